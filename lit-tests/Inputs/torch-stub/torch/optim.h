// SPDX-License-Identifier: Apache-2.0
// torch::optim with LibTorch's names (declarations only).
#pragma once

#include <torch/nn.h>

namespace torch {
namespace optim {

class OptimizerOptions {
 public:
  virtual ~OptimizerOptions() = default;
};

class Optimizer {
 public:
  Optimizer(const Optimizer& optimizer) = delete;
  Optimizer(Optimizer&& optimizer) = default;
  explicit Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  virtual ~Optimizer() = default;
  using LossClosure = std::function<Tensor()>;
  virtual Tensor step(LossClosure closure = nullptr) = 0;
  void add_parameters(const std::vector<Tensor>& parameters);
  void zero_grad(bool set_to_none = true);
  const std::vector<Tensor>& parameters() const noexcept;
};

#define TORCH_STUB_OPTIMIZER(Name, default_options)                                 \
  struct Name##Options : public OptimizerOptions {                                  \
    Name##Options(double lr = 1e-3);                                                \
    Name##Options& weight_decay(const double& new_weight_decay);                    \
  };                                                                                \
  class Name : public Optimizer {                                                   \
   public:                                                                          \
    explicit Name(std::vector<Tensor> params, Name##Options defaults default_options); \
    torch::Tensor step(LossClosure closure = nullptr) override;                     \
  }
TORCH_STUB_OPTIMIZER(SGD, );
TORCH_STUB_OPTIMIZER(Adam, = {});
TORCH_STUB_OPTIMIZER(AdamW, = {});
TORCH_STUB_OPTIMIZER(RMSprop, = {});
TORCH_STUB_OPTIMIZER(Adagrad, = {});
TORCH_STUB_OPTIMIZER(LBFGS, = {});
#undef TORCH_STUB_OPTIMIZER

}  // namespace optim
}  // namespace torch
