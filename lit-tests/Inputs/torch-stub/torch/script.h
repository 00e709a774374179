// SPDX-License-Identifier: Apache-2.0
// torch::jit: scripted modules with LibTorch's names (declarations only).
#pragma once

#include <torch/types.h>

namespace torch {
namespace jit {

class Object {
 public:
  c10::IValue attr(const std::string& name) const;
};

class Module : public Object {
 public:
  c10::IValue forward(std::vector<c10::IValue> inputs);
  c10::IValue operator()(std::vector<c10::IValue> inputs);
  c10::IValue run_method(const std::string& name, std::vector<c10::IValue> inputs);
  void eval();
  void train(bool on = true);
  bool is_training() const;
  void to(at::Device device, bool non_blocking = false);
  std::vector<at::Tensor> parameters(bool recurse = true) const;
};

Module load(const std::string& filename, std::optional<at::Device> device = std::nullopt);
Module freeze(const Module& module);

}  // namespace jit
}  // namespace torch
