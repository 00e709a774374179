// SPDX-License-Identifier: Apache-2.0
// torch::nn: Module, ModuleHolder, a few modules and functionals (declarations only).
#pragma once

#include <torch/types.h>

namespace torch {
namespace nn {

template <typename Contained>
class ModuleHolder;

class Module : public std::enable_shared_from_this<Module> {
 public:
  explicit Module(std::string name);
  Module();
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) noexcept = default;
  virtual ~Module() = default;
  std::vector<Tensor> parameters(bool recurse = true) const;
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  virtual void train(bool on = true);
  void eval();
  virtual bool is_training() const noexcept;
  virtual void to(Device device, Dtype dtype, bool non_blocking = false);
  virtual void to(Dtype dtype, bool non_blocking = false);
  virtual void to(Device device, bool non_blocking = false);
  virtual void zero_grad(bool set_to_none = true);
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, std::shared_ptr<ModuleType> module);
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, ModuleHolder<ModuleType> module_holder);
};

template <typename Derived>
class Cloneable : public Module {
 public:
  using Module::Module;
  virtual void reset() = 0;
};

template <typename Contained>
class ModuleHolder {
 protected:
  std::shared_ptr<Contained> impl_;

 public:
  using ContainedType = Contained;
  ModuleHolder();
  ModuleHolder(std::nullptr_t);
  template <typename Head, typename... Tail,
            typename = std::enable_if_t<!(std::is_base_of_v<ModuleHolder, std::decay_t<Head>> && sizeof...(Tail) == 0)>>
  explicit ModuleHolder(Head&& head, Tail&&... tail);
  ModuleHolder(std::shared_ptr<Contained> module);
  explicit operator bool() const noexcept;
  Contained* operator->();
  const Contained* operator->() const;
  Contained& operator*();
  const std::shared_ptr<Contained>& ptr() const;
  Contained* get();
  template <typename... Args>
  auto operator()(Args&&... args) {
    return impl_->forward(std::forward<Args>(args)...);
  }
  bool is_empty() const noexcept;
};

#define TORCH_MODULE_IMPL(Name, ImplType)                  \
  class Name : public torch::nn::ModuleHolder<ImplType> { \
   public:                                                 \
    using torch::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl = ImplType;                                 \
  }
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)

struct LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features);
  LinearOptions& bias(const bool& new_bias);
};
class LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features);
  explicit LinearImpl(const LinearOptions& options);
  void reset() override;
  Tensor forward(const Tensor& input);
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(Linear);

class EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim);
  void reset() override;
  Tensor forward(const Tensor& indices);
  Tensor weight;
};
TORCH_MODULE(Embedding);

struct LSTMOptions {
  LSTMOptions(int64_t input_size, int64_t hidden_size);
};
class LSTMImpl : public Cloneable<LSTMImpl> {
 public:
  LSTMImpl(int64_t input_size, int64_t hidden_size);
  explicit LSTMImpl(const LSTMOptions& options);
  void reset() override;
  std::tuple<Tensor, std::tuple<Tensor, Tensor>> forward(const Tensor& input,
                                                         std::optional<std::tuple<Tensor, Tensor>> hx_opt = {});
};
TORCH_MODULE(LSTM);

class GRUCellImpl : public Cloneable<GRUCellImpl> {
 public:
  GRUCellImpl(int64_t input_size, int64_t hidden_size);
  void reset() override;
  Tensor forward(const Tensor& input, const Tensor& hx = {});
};
TORCH_MODULE(GRUCell);

class ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  ReLUImpl();
  void reset() override;
  Tensor forward(Tensor input);
};
TORCH_MODULE(ReLU);

class SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  SequentialImpl() = default;
  template <typename... Modules>
  explicit SequentialImpl(Modules&&... modules);
  void reset() override;
  template <typename ReturnType = Tensor, typename... InputTypes>
  ReturnType forward(InputTypes&&... inputs);
  template <typename M>
  void push_back(M&& module);
  size_t size() const noexcept;
};
class Sequential : public torch::nn::ModuleHolder<SequentialImpl> {
 public:
  using torch::nn::ModuleHolder<SequentialImpl>::ModuleHolder;
  Sequential();
};

class ModuleListImpl : public Cloneable<ModuleListImpl> {
 public:
  using Iterator = std::vector<std::shared_ptr<Module>>::iterator;
  ModuleListImpl() = default;
  void reset() override;
  void push_back(std::shared_ptr<Module> module);
  template <typename M>
  void push_back(const ModuleHolder<M>& module_holder) {
    push_back(module_holder.ptr());
  }
  Iterator begin();
  Iterator end();
};
class ModuleList : public torch::nn::ModuleHolder<ModuleListImpl> {
 public:
  using torch::nn::ModuleHolder<ModuleListImpl>::ModuleHolder;
  ModuleList();
};

namespace functional {
struct CrossEntropyFuncOptions {
  CrossEntropyFuncOptions() = default;
};
Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {});
struct MSELossFuncOptions {
  MSELossFuncOptions() = default;
};
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {});
Tensor softmax(const Tensor& input, int64_t options);
struct ReLUFuncOptions {
  ReLUFuncOptions(bool inplace = false);
};
Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
}  // namespace functional

namespace utils {
double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0,
                       bool error_if_nonfinite = false);
}  // namespace utils

}  // namespace nn
}  // namespace torch
