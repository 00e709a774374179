// SPDX-License-Identifier: Apache-2.0
// Finds tensors that are dropped, and pinned memory that is written, while a stream may still use them: what is dropped.
// Pinned memory is in stream-hazard-pinned.cpp.
// RUN: %check_tidy %s tensorscope-stream-hazard %t
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/torch.h>

// CUDA's own headers come with CUDA alone; these are the names of what LibTorch has there.
using cudaStream_t = struct CUstream_st *;
int cudaStreamSynchronize(cudaStream_t stream);
namespace c10::cuda {
struct CUDAStream {
  operator c10::Stream() const { return unwrap(); }
  c10::Stream unwrap() const;
  cudaStream_t stream() const;
  void synchronize() const;
};
CUDAStream getStreamFromPool(bool high_priority = false, int8_t device = -1);
CUDAStream getCurrentCUDAStream(int8_t device = -1);
CUDAStream getDefaultCUDAStream(int8_t device = -1);
void setCurrentCUDAStream(CUDAStream stream);
struct CUDAStreamGuard {
  explicit CUDAStreamGuard(c10::Stream stream);
  ~CUDAStreamGuard();
  void reset_stream(c10::Stream stream);
};
struct CUDAMultiStreamGuard {
  explicit CUDAMultiStreamGuard(at::ArrayRef<CUDAStream> streams);
  ~CUDAMultiStreamGuard();
};
} // namespace c10::cuda
namespace at::cuda {
using namespace c10::cuda;
}

void consume(const torch::Tensor &x);
void elsewhere();

// --- Dropped while another stream uses it ---

// A tensor of the caller's stream is read on one from the pool, and ends with the function.
torch::Tensor dropped(torch::Device dev) {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::rand({2048, 2048}, dev);
  // CHECK-MESSAGES: :[[@LINE+6]]:3: warning: 'x' is dropped here while work on 'side' may read it; call x.record_stream(side) [tensorscope-stream-hazard]
  torch::Tensor y;
  {
    at::cuda::CUDAStreamGuard on(side);
    y = x.matmul(x);
  }
  return y;
  // CHECK-FIXES: x.record_stream(side);
  // CHECK-FIXES-NEXT: y = x.matmul(x);
}

// The same by LibTorch's guards for any device.
torch::Tensor generic(torch::Device dev) {
  c10::impl::VirtualGuardImpl impl(dev.type());
  c10::Stream other = impl.getStreamFromGlobalPool(dev);
  auto x = torch::rand({2048, 2048}, dev);
  c10::StreamGuard on(other);
  auto y = x * 2;
  return y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x' is dropped here while work on 'other' may read it; call x.record_stream(other) [tensorscope-stream-hazard]
}

// The thread's stream is set by a call.
torch::Tensor set(torch::Device dev) {
  auto side = at::cuda::getStreamFromPool();
  auto before = at::cuda::getCurrentCUDAStream();
  auto x = torch::rand({64, 64}, dev);
  at::cuda::setCurrentCUDAStream(side);
  auto y = x + 1;
  at::cuda::setCurrentCUDAStream(before);
  return y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x' is dropped here while work on 'side' may read it; call x.record_stream(side) [tensorscope-stream-hazard]
}

// Given another tensor, and emptied, while the work goes on.
void reassigned(torch::Device dev, std::vector<torch::Tensor> &out) {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::ones({64}, dev);
  for (int i = 0; i < 100; ++i) {
    {
      at::cuda::CUDAStreamGuard on(side);
      out.push_back(x * i);
    }
    x = torch::ones({64}, dev);
    // CHECK-MESSAGES: :[[@LINE-1]]:7: warning: 'x' is dropped here while work on 'side' may read it; call x.record_stream(side) [tensorscope-stream-hazard]
  }
  torch::cuda::synchronize();
}
void reset(torch::Device dev, torch::Tensor &out) {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::ones({64}, dev);
  {
    at::cuda::CUDAStreamGuard on(side);
    out.add_(x);
  }
  x.reset();
  // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x' is dropped here while work on 'side' may read it; call x.record_stream(side) [tensorscope-stream-hazard]
}

// A view keeps the tensor alive as long as it lives itself.
torch::Tensor view(torch::Device dev) {
  auto side = at::cuda::getStreamFromPool();
  auto row = torch::ones({64, 64}, dev)[0];
  torch::Tensor y;
  {
    at::cuda::CUDAStreamGuard on(side);
    y = row * 2;
  }
  return y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'row' is dropped here while work on 'side' may read it; call row.record_stream(side) [tensorscope-stream-hazard]
}

// The work is given by a callee, which switches streams itself.
static torch::Tensor squareOn(c10::Stream stream, const torch::Tensor &x) {
  c10::StreamGuard on(stream);
  return x * x;
}
torch::Tensor through(torch::Device dev) {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::ones({64, 64}, dev);
  auto y = squareOn(side, x);
  return y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x' is dropped here while work on 'stream' may read it; call x.record_stream(stream) [tensorscope-stream-hazard]
}

// Made on the side and used by the caller's stream, in each step: the next one is made in the same memory.
float prefetched(torch::Device dev, const std::vector<torch::Tensor> &host) {
  auto side = at::cuda::getStreamFromPool();
  auto total = torch::zeros({1}, dev);
  for (const auto &h : host) {
    torch::Tensor batch;
    {
      at::cuda::CUDAStreamGuard on(side);
      batch = h.to(dev, torch::kFloat, /*non_blocking=*/true);
    }
    side.synchronize();
    total += batch.sum();
    // CHECK-MESSAGES: :[[@LINE+1]]:3: warning: 'batch' is dropped here while work on another stream may read it; call record_stream on it [tensorscope-stream-hazard]
  }
  return total.item<float>();
}

// Waiting for another stream is no waiting.
torch::Tensor wrongStream(torch::Device dev) {
  auto side = at::cuda::getStreamFromPool();
  auto third = at::cuda::getStreamFromPool();
  auto x = torch::ones({64, 64}, dev);
  torch::Tensor y;
  {
    at::cuda::CUDAStreamGuard on(side);
    y = x * 2;
  }
  third.synchronize();
  return y;
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'x' is dropped here while work on 'side' may read it; call x.record_stream(side) [tensorscope-stream-hazard]
}

// The stream is a member, which its class takes from the pool.
struct Worker {
  c10::cuda::CUDAStream stream_ = at::cuda::getStreamFromPool();
  torch::Tensor run(torch::Device dev) {
    auto x = torch::ones({64}, dev);
    at::cuda::CUDAStreamGuard on(stream_);
    return x * 2;
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'x' is dropped here while work on 'stream_' may read it; call x.record_stream(stream_) [tensorscope-stream-hazard]
  }
};

// --- Not dropped too early ---

torch::Tensor recorded(torch::Device dev) {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::rand({2048, 2048}, dev);
  auto z = torch::rand({2048, 2048}, dev);
  z.record_stream(side);
  at::cuda::CUDAStreamGuard on(side);
  auto y = x.matmul(z);
  x.record_stream(side);
  return y;
}
torch::Tensor waitedFor(torch::Device dev, int how) {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::rand({64}, dev);
  torch::Tensor y;
  {
    at::cuda::CUDAStreamGuard on(side);
    y = x * 2;
  }
  if (how == 0)
    side.synchronize();
  else if (how == 1)
    torch::cuda::synchronize();
  else
    cudaStreamSynchronize(side.stream());
  return y;
}
// The caller's stream waits for the work before the memory is its own again.
torch::Tensor ordered(torch::Device dev) {
  c10::impl::VirtualGuardImpl impl(dev.type());
  auto side = impl.getStreamFromGlobalPool(dev);
  auto x = torch::rand({64}, dev);
  c10::Event done(dev.type());
  torch::Tensor y;
  {
    c10::StreamGuard on(side);
    y = x * 2;
    done.record(side);
  }
  done.block(impl.getStream(dev));
  return y;
}
// A value was read out of the result.
float read(torch::Device dev) {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::rand({64}, dev);
  at::cuda::CUDAStreamGuard on(side);
  return (x * 2).sum().item<float>();
}
// Made and used on the same stream.
torch::Tensor same(torch::Device dev) {
  auto side = at::cuda::getStreamFromPool();
  at::cuda::CUDAStreamGuard on(side);
  auto x = torch::rand({64}, dev);
  return x * 2;
}
// Tensors of the processor are no affair of streams, and their work is done at once.
torch::Tensor onCpu() {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::rand({64});
  at::cuda::CUDAStreamGuard on(side);
  return x * 2;
}
// Nobody knows whether this is another stream.
torch::Tensor given(torch::Device dev, c10::Stream stream, at::ArrayRef<c10::cuda::CUDAStream> all) {
  auto x = torch::rand({64}, dev);
  {
    c10::StreamGuard on(stream);
    x = x * 2;
  }
  c10::StreamGuard on(at::cuda::getDefaultCUDAStream());
  auto y = x * 2;
  at::cuda::CUDAMultiStreamGuard many(all);
  return y * 2;
}
// The caller, a container or somebody unknown keeps it, and a callee may have waited.
torch::Tensor kept(torch::Device dev, std::vector<torch::Tensor> &held, const torch::Tensor &mine) {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::rand({64}, dev), z = torch::rand({64}, dev), w = torch::rand({64}, dev);
  held.push_back(x);
  consume(z);
  torch::Tensor y;
  {
    at::cuda::CUDAStreamGuard on(side);
    y = x + z + mine + w;
  }
  elsewhere();
  return y;
}
// The graph of the result keeps what it needs.
torch::Tensor graph(torch::Device dev) {
  auto side = at::cuda::getStreamFromPool();
  auto w = torch::ones({64}, torch::TensorOptions().device(dev).requires_grad(true));
  auto x = torch::rand({64}, dev);
  at::cuda::CUDAStreamGuard on(side);
  return x * w;
}
// On a path on which somebody waits, as on the one on which nobody needs to.
torch::Tensor guarded(torch::Device dev, bool aside) {
  auto side = at::cuda::getStreamFromPool();
  auto x = torch::rand({64}, dev);
  torch::Tensor y;
  if (aside) {
    at::cuda::CUDAStreamGuard on(side);
    y = x * 2;
  }
  if (aside)
    side.synchronize();
  return y;
}
