// SPDX-License-Identifier: Apache-2.0
// The owner of a handle of AOTInductor's, with LibTorch's name (declarations only).
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

namespace torch::aot_inductor {

class RAIIAtenTensorHandle {
 public:
  RAIIAtenTensorHandle();
  RAIIAtenTensorHandle(AtenTensorHandle handle);
  RAIIAtenTensorHandle(const RAIIAtenTensorHandle& other) = delete;
  RAIIAtenTensorHandle(RAIIAtenTensorHandle&& other) = default;
  ~RAIIAtenTensorHandle();
  operator AtenTensorHandle() const;
  AtenTensorHandle release();
  AtenTensorHandle get() const;
  void reset();
};

}  // namespace torch::aot_inductor
