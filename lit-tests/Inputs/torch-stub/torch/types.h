// SPDX-License-Identifier: Apache-2.0
// Namespace torch: what it takes from at, its own factories, autograd, saving (declarations only).
#pragma once

#include <ATen/ivalue.h>

#include <string>
#include <unordered_map>

namespace torch {

using namespace at;
using std::nullopt;
using std::optional;
using Dtype = at::ScalarType;
using NoGradGuard = at::NoGradGuard;
using at::manual_seed;
constexpr auto kUInt8 = at::kByte;
constexpr auto kInt32 = at::kInt;
constexpr auto kInt64 = at::kLong;
constexpr auto kFloat32 = at::kFloat;
constexpr auto kFloat64 = at::kDouble;

namespace detail {
struct TensorDataContainer {
  template <typename T>
  TensorDataContainer(T value);
  TensorDataContainer(std::initializer_list<TensorDataContainer> init_list);
  template <typename T>
  TensorDataContainer(const std::vector<T>& values);
};
}  // namespace detail

at::Tensor tensor(detail::TensorDataContainer tensor_data_container, const at::TensorOptions& options = {});
using Deleter = std::function<void(void*)>;
at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides, const Deleter& deleter,
                     const at::TensorOptions& options = at::TensorOptions());
at::Tensor from_blob(void* data, at::IntArrayRef sizes, const Deleter& deleter,
                     const at::TensorOptions& options = at::TensorOptions());
at::Tensor from_blob(void* data, at::IntArrayRef sizes, at::IntArrayRef strides,
                     const at::TensorOptions& options = at::TensorOptions());
at::Tensor from_blob(void* data, at::IntArrayRef sizes, const at::TensorOptions& options = at::TensorOptions());
at::Tensor arange(const at::Scalar& end, at::TensorOptions options = {});
at::Tensor arange(const at::Scalar& start, const at::Scalar& end, at::TensorOptions options = {});
at::Tensor linspace(const at::Scalar& start, const at::Scalar& end, int64_t steps, at::TensorOptions options = {});
at::Tensor empty(at::IntArrayRef size, at::TensorOptions options = {},
                 std::optional<at::MemoryFormat> memory_format = std::nullopt);
at::Tensor empty_like(const at::Tensor& self, at::TensorOptions options = {},
                      std::optional<at::MemoryFormat> memory_format = std::nullopt);
at::Tensor eye(int64_t n, at::TensorOptions options = {});
at::Tensor full(at::IntArrayRef size, const at::Scalar& fill_value, at::TensorOptions options = {});
at::Tensor ones(at::IntArrayRef size, at::TensorOptions options = {});
at::Tensor ones_like(const at::Tensor& self, at::TensorOptions options = {},
                     std::optional<at::MemoryFormat> memory_format = std::nullopt);
at::Tensor zeros(at::IntArrayRef size, at::TensorOptions options = {});
at::Tensor zeros_like(const at::Tensor& self, at::TensorOptions options = {},
                      std::optional<at::MemoryFormat> memory_format = std::nullopt);
at::Tensor rand(at::IntArrayRef size, at::TensorOptions options = {});
at::Tensor randn(at::IntArrayRef size, at::TensorOptions options = {});
at::Tensor rand_like(const at::Tensor& self, at::TensorOptions options = {},
                     std::optional<at::MemoryFormat> memory_format = std::nullopt);
at::Tensor randn_like(const at::Tensor& self, at::TensorOptions options = {},
                      std::optional<at::MemoryFormat> memory_format = std::nullopt);
at::Tensor randint(int64_t high, at::IntArrayRef size, at::TensorOptions options = at::kLong);
at::Tensor randint(int64_t low, int64_t high, at::IntArrayRef size, at::TensorOptions options = at::kLong);
at::Tensor randperm(int64_t n, at::TensorOptions options = at::kLong);

namespace autograd {
using Variable = at::Tensor;
using variable_list = std::vector<Variable>;
using AutoGradMode = at::AutoGradMode;
void backward(const variable_list& tensors, const variable_list& grad_tensors = {},
              std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
              const variable_list& inputs = {});
variable_list grad(const variable_list& outputs, const variable_list& inputs, const variable_list& grad_outputs = {},
                   std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                   bool allow_unused = false);

struct AutogradContext {
  std::unordered_map<std::string, at::IValue> saved_data;
  void save_for_backward(variable_list to_save);
  void mark_dirty(const variable_list& inputs);
  void mark_non_differentiable(const variable_list& outputs);
  variable_list get_saved_variables() const;
};
template <class T>
struct Function {
  template <typename X = T, typename... Args>
  static auto apply(Args&&... args) {
    return X::forward(static_cast<AutogradContext*>(nullptr), std::forward<Args>(args)...);
  }
};

}  // namespace autograd

template <typename Value, typename... SaveToArgs>
void save(const Value& value, SaveToArgs&&... args);
template <typename Value, typename... LoadFromArgs>
void load(Value& value, LoadFromArgs&&... args);

template <typename Key, typename Value>
class OrderedDict {
 public:
  class Item {
   public:
    Value& operator*();
    const Key& key() const noexcept;
    Value& value() noexcept;
    const Value& value() const noexcept;
  };
  typename std::vector<Item>::iterator begin();
  typename std::vector<Item>::iterator end();
  Value& operator[](const Key& key);
  Value& insert(Key key, Value&& value);
  size_t size() const noexcept;
};

}  // namespace torch
