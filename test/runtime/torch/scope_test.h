// SPDX-License-Identifier: Apache-2.0
// What the semantic suites share: the public API, an error's text, models to train, memory figures.
#pragma once

#include "torch_test.h"

#include <tensorscope/tensorscope.h>

#include <malloc.h>

#include <ctime>

namespace tensorscope_test {

using at::Tensor;
using tensorscope::Scope;
using tensorscope::UseAfterRelease;
using tensorscope::with_torch;

/// The text of the UseAfterRelease that `function` throws; a failure and "" if it throws none.
template <class Function>
std::string use_after_release(Function&& function) {
  try {
    function();
  } catch (const UseAfterRelease& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an error of another kind: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

/// Reads every element, so that memory given back too early shows.
inline double value(const Tensor& tensor) {
  return tensor.sum().item<double>();
}

inline bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!torch::equal(a[i], b[i]))
      return false;
  return true;
}

/// CPU storages with bytes that the ledger counts as live.
inline std::uint64_t live_storages() {
  return tensorscope::stats().total().live;
}

/// Counts the CPU bytes that this thread allocates and frees, as LibTorch itself reports them: a witness that is
/// not ours, exact to the byte. Sees what was allocated after it was made.
class MemoryWitness {
 public:
  MemoryWitness() : counter_(std::make_shared<Counter>()), guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}
  std::int64_t bytes() const {
    return counter_->bytes;
  }

 private:
  struct Counter : c10::MemoryReportingInfoBase {
    std::int64_t bytes = 0;
    void reportMemoryUsage(void*, std::int64_t size, std::size_t, std::size_t, c10::Device) override {
      bytes += size;
    }
    bool memoryProfilingEnabled() const override {
      return true;
    }
  };
  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

/// Bytes that malloc has given out, for a witness that is not ours. 0 under a sanitizer.
inline std::size_t heap_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

/// Processor time of this thread: other programs do not disturb it much.
inline double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// A small network with running statistics and random masks.
inline torch::nn::Sequential make_net() {
  namespace nn = torch::nn;
  return nn::Sequential(nn::Linear(16, 32), nn::BatchNorm1d(32), nn::ReLU(), nn::Dropout(0.2), nn::Linear(32, 4));
}

inline Tensor loss_of(torch::nn::Sequential& net) {
  return net->forward(torch::randn({8, 16})).pow(2).mean();
}

/// Copies of parameters, buffers and gradients.
inline std::vector<Tensor> snapshot(const torch::nn::Module& module) {
  std::vector<Tensor> all;
  for (const auto& parameter : module.parameters()) {
    all.push_back(parameter.detach().clone());
    if (parameter.grad().defined())
      all.push_back(parameter.grad().clone());
  }
  for (const auto& buffer : module.buffers())
    all.push_back(buffer.clone());
  return all;
}

/// Runs `body` in a scope, or without one.
template <class Body>
void maybe_scoped(bool scoped, Body&& body) {
  if (scoped)
    with_torch(body);
  else
    body();
}

} // namespace tensorscope_test
