// SPDX-License-Identifier: Apache-2.0
// Finds pinned memory that is written while a copy from it may still run.
// RUN: %check_tidy %s tensorscope-stream-hazard %t
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/torch.h>

#include <cstring>
#include <functional>
#include <future>

void elsewhere();

torch::TensorOptions pinned() { return torch::TensorOptions().pinned_memory(true); }

// One buffer, filled again while the last copy from it may go on.
void refilled(std::vector<torch::Tensor> &out) {
  auto stage = torch::empty({1 << 20}, torch::TensorOptions().pinned_memory(true));
  for (int i = 0; i < 8; ++i) {
    stage.fill_(i);
    // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'stage' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
    out.push_back(stage.to(torch::kCUDA, torch::kFloat, /*non_blocking=*/true));
  }
  torch::cuda::synchronize();
}

// Two copies in a row, by copy_; what writes is an operator, an element, memcpy or a pointer.
void inARow(torch::Tensor &gpu, torch::Tensor &other, const torch::Tensor &a, const float *from) {
  auto stage = torch::empty({4}).pin_memory();
  stage.copy_(a);
  gpu.copy_(stage, true);
  stage += 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'stage' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
  other.copy_(stage, /*non_blocking=*/true);
}
void byMemcpy(torch::Tensor &gpu, const float *from) {
  auto stage = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
  gpu.copy_(stage, true);
  std::memcpy(stage.data_ptr(), from, 16);
  // CHECK-MESSAGES: :[[@LINE-1]]:3: warning: 'stage' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
}
void byPointer(torch::Tensor &gpu, const float *from) {
  auto options = torch::TensorOptions().dtype(torch::kFloat).pinned_memory(true);
  auto stage = torch::empty({4}, options);
  float *p = stage.data_ptr<float>();
  for (int k = 0; k < 100; ++k) {
    for (int i = 0; i < 4; ++i)
      p[i] = from[i];
      // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'stage' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
    gpu.copy_(stage, true);
  }
}
void byOffset(torch::Tensor &gpu, const float *from) {
  auto stage = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
  auto *p = stage.data_ptr<float>();
  gpu.copy_(stage, true);
  *(p + 1) = from[0];
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'stage' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
}
void byAccessor(torch::Tensor &gpu) {
  auto stage = torch::empty({4, 4}, torch::TensorOptions().pinned_memory(true));
  auto a = stage.accessor<float, 2>();
  gpu.copy_(stage, true);
  a[0][1] = 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: 'stage' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
}
void byElement(torch::Tensor &gpu) {
  auto stage = torch::empty({4, 4}, torch::TensorOptions().pinned_memory(true));
  gpu.copy_(stage, true);
  stage[0] = 1;
  // CHECK-MESSAGES: :[[@LINE-1]]:12: warning: 'stage' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
}

// A callee copies, another one writes.
static torch::Tensor upload(const torch::Tensor &from) {
  return from.to(torch::kCUDA, torch::kFloat, true);
}
static void fill(torch::Tensor &to, int value) { to.fill_(value); }
void byCallees(std::vector<torch::Tensor> &out) {
  auto stage = torch::empty({64}, pinned());
  auto mine = torch::empty({64}, torch::TensorOptions().pinned_memory(true));
  for (int i = 0; i < 100; ++i) {
    fill(mine, i);
    // CHECK-MESSAGES: :[[@LINE-1]]:5: warning: 'mine' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
    out.push_back(upload(mine));
  }
}

// A member that its class makes in pinned memory.
struct Loader {
  torch::Tensor stage_ = torch::empty({64}, torch::TensorOptions().pinned_memory(true));
  void load(const std::vector<torch::Tensor> &in, torch::Tensor &gpu) {
    for (const auto &x : in) {
      stage_.copy_(x);
      // CHECK-MESSAGES: :[[@LINE-1]]:14: warning: 'stage_' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
      gpu.copy_(stage_, true);
    }
  }
};

// A stream that waits on the device holds nobody back who writes.
void orderedOnly(torch::Tensor &gpu, torch::Device dev) {
  c10::impl::VirtualGuardImpl impl(dev.type());
  auto stage = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
  c10::Event copied(dev.type());
  gpu.copy_(stage, true);
  copied.record(impl.getStream(dev));
  copied.block(impl.getStreamFromGlobalPool(dev));
  stage.zero_();
  // CHECK-MESSAGES: :[[@LINE-1]]:9: warning: 'stage' is written while a non_blocking copy from it is pending; wait for the copy, or use another buffer [tensorscope-stream-hazard]
}

// --- Right ---

// Somebody waits before the next write.
void waits(torch::Tensor &gpu, torch::Device dev) {
  c10::impl::VirtualGuardImpl impl(dev.type());
  auto stage = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
  c10::Event copied(dev.type());
  for (int i = 0; i < 8; ++i) {
    if (i > 0)
      copied.synchronize();
    stage.fill_(i);
    gpu.copy_(stage, true);
    copied.record(impl.getStream(dev));
  }
}
float readsBack(torch::Tensor &gpu) {
  auto stage = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
  float total = 0;
  for (int i = 0; i < 8; ++i) {
    stage.fill_(i);
    gpu.copy_(stage, true);
    total += gpu.sum().item<float>();
  }
  return total;
}
void callsUnknown(torch::Tensor &gpu, std::future<int> &work, const std::function<void()> &wait) {
  auto stage = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
  gpu.copy_(stage, true);
  elsewhere();
  stage.fill_(1);
  gpu.copy_(stage, true);
  work.get();
  stage.fill_(2);
  gpu.copy_(stage, true);
  wait();
  stage.fill_(3);
}
// Buffers in turn.
void inTurn(std::vector<torch::Tensor> &out) {
  auto options = torch::TensorOptions().pinned_memory(true);
  std::vector<torch::Tensor> stages{torch::empty({4}, options), torch::empty({4}, options)};
  auto even = torch::empty({4}, options), odd = torch::empty({4}, options);
  auto front = torch::empty({4}, options), back = torch::empty({4}, options);
  for (int i = 0; i < 8; ++i) {
    auto &stage = stages[i % 2];
    stage.fill_(i);
    out.push_back(stage.to(torch::kCUDA, torch::kFloat, true));
  }
  for (int i = 0; i < 8; ++i) {
    if (i % 2) {
      odd.fill_(i);
      out.push_back(odd.to(torch::kCUDA, torch::kFloat, true));
    } else {
      even.fill_(i);
      out.push_back(even.to(torch::kCUDA, torch::kFloat, true));
    }
  }
  for (int i = 0; i < 8; ++i) {
    front.fill_(i);
    out.push_back(front.to(torch::kCUDA, torch::kFloat, true));
    std::swap(front, back);
  }
}
void inTurnFromALoop(std::vector<torch::Tensor> &out) {
  std::vector<torch::Tensor> stages;
  for (int i = 0; i < 2; ++i)
    stages.push_back(torch::empty({4}, torch::TensorOptions().pinned_memory(true)));
  for (int i = 0; i < 8; ++i) {
    stages[i % 2].fill_(i);
    out.push_back(stages[i % 2].to(torch::kCUDA, torch::kFloat, true));
  }
}
// A new buffer for each copy, memory that is not pinned, copies that wait or stay on the processor.
void others(std::vector<torch::Tensor> &out, bool may) {
  auto plain = torch::empty({4});
  auto stage = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
  auto perhaps = torch::empty({4}, torch::TensorOptions().pinned_memory(may));
  for (int i = 0; i < 8; ++i) {
    auto fresh = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
    fresh.fill_(i);
    out.push_back(fresh.to(torch::kCUDA, torch::kFloat, true));
    plain.fill_(i);
    out.push_back(plain.to(torch::kCUDA, torch::kFloat, true));
    stage.fill_(i);
    out.push_back(stage.to(torch::kCUDA, torch::kFloat));
    out.push_back(stage.to(torch::kHalf, true));
    perhaps.fill_(i);
    out.push_back(perhaps.to(torch::kCUDA, torch::kFloat, true));
  }
}
// Read again while it is copied, and given a new buffer before it is written.
float replaced(torch::Tensor &gpu) {
  auto stage = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
  gpu.copy_(stage, true);
  float first = stage.sum().item<float>();
  gpu.copy_(stage, true);
  stage = torch::empty({4}, torch::TensorOptions().pinned_memory(true));
  stage.fill_(1);
  return first;
}

// False negative: whether the buffers' turn comes too early is not followed.
void tooEarly(torch::Tensor &gpu) {
  auto options = torch::TensorOptions().pinned_memory(true);
  auto front = torch::empty({4}, options), back = torch::empty({4}, options);
  for (int i = 0; i < 8; ++i) {
    front.fill_(i);
    gpu.copy_(front, true);
    gpu.copy_(front, true);
    std::swap(front, back);
  }
}
