// SPDX-License-Identifier: Apache-2.0
// Free operators and functions of namespace at (declarations only).
#pragma once

#include <ATen/Tensor.h>

namespace at {

#define AT_STUB_BINARY(op)                            \
  Tensor operator op(const Tensor& x, const Tensor& y); \
  Tensor operator op(const Tensor& x, const Scalar& y); \
  Tensor operator op(const Scalar& x, const Tensor& y);
AT_STUB_BINARY(+)
AT_STUB_BINARY(-)
AT_STUB_BINARY(*)
AT_STUB_BINARY(/)
AT_STUB_BINARY(%)
AT_STUB_BINARY(&)
AT_STUB_BINARY(|)
AT_STUB_BINARY(<)
AT_STUB_BINARY(<=)
AT_STUB_BINARY(>)
AT_STUB_BINARY(>=)
AT_STUB_BINARY(==)
AT_STUB_BINARY(!=)
#undef AT_STUB_BINARY

std::ostream& operator<<(std::ostream& out, const Tensor& t);

// Factories of namespace at; namespace torch has its own that set autograd up.
Tensor empty(IntArrayRef size, TensorOptions options = {}, std::optional<MemoryFormat> memory_format = std::nullopt);
Tensor zeros(IntArrayRef size, TensorOptions options = {});
Tensor ones(IntArrayRef size, TensorOptions options = {});
Tensor full(IntArrayRef size, const Scalar& fill_value, TensorOptions options = {});
Tensor rand(IntArrayRef size, TensorOptions options = {});
Tensor randn(IntArrayRef size, TensorOptions options = {});
Tensor arange(const Scalar& end, TensorOptions options = {});
Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {});
Tensor from_blob(void* data, IntArrayRef sizes, const std::function<void(void*)>& deleter,
                 const TensorOptions& options = {}, const std::optional<Device> target_device = std::nullopt);

#define AT_STUB_UNARY(name)            \
  Tensor name(const Tensor& self);     \
  Tensor& name##_(Tensor& self);       \
  Tensor& name##_out(Tensor& out, const Tensor& self);
AT_STUB_UNARY(abs)
AT_STUB_UNARY(cos)
AT_STUB_UNARY(exp)
AT_STUB_UNARY(log)
AT_STUB_UNARY(relu)
AT_STUB_UNARY(sigmoid)
AT_STUB_UNARY(sin)
AT_STUB_UNARY(sqrt)
AT_STUB_UNARY(tanh)
#undef AT_STUB_UNARY

Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
Tensor mul(const Tensor& self, const Tensor& other);
Tensor div(const Tensor& self, const Tensor& other);
Tensor matmul(const Tensor& self, const Tensor& other);
Tensor mm(const Tensor& self, const Tensor& mat2);
Tensor bmm(const Tensor& self, const Tensor& mat2);
Tensor pow(const Tensor& self, const Scalar& exponent);
Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
Tensor sum(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt);
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt);
Tensor norm(const Tensor& self, const Scalar& p = 2);
Tensor argmax(const Tensor& self, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);
Tensor max(const Tensor& self);
Tensor maximum(const Tensor& self, const Tensor& other);
Tensor cat(const ITensorListRef& tensors, int64_t dim = 0);
Tensor stack(TensorList tensors, int64_t dim = 0);
std::vector<Tensor> meshgrid(TensorList tensors);
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
Tensor clamp(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max = std::nullopt);
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement = false,
                   std::optional<Generator> generator = std::nullopt);
Tensor index_select(const Tensor& self, int64_t dim, const Tensor& index);
Tensor flatten(const Tensor& self, int64_t start_dim = 0, int64_t end_dim = -1);
Tensor squeeze(const Tensor& self);
Tensor unsqueeze(const Tensor& self, int64_t dim);
Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1);
Tensor reshape(const Tensor& self, IntArrayRef shape);
Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction = 1);
Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                int64_t reduction = 1, int64_t ignore_index = -100);
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                          int64_t reduction = 1, int64_t ignore_index = -100, double label_smoothing = 0.0);
Tensor dropout(const Tensor& input, double p, bool train);
Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1,
                 bool scale_grad_by_freq = false, bool sparse = false);
std::tuple<Tensor, Tensor> topk(const Tensor& self, int64_t k, int64_t dim = -1, bool largest = true,
                                bool sorted = true);
std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim = 0);
std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim = 0);
std::vector<Tensor> unbind(const Tensor& self, int64_t dim = 0);
bool equal(const Tensor& self, const Tensor& other);
bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-05, double atol = 1e-08,
              bool equal_nan = false);
Tensor zeros_like(const Tensor& self, TensorOptions options = {},
                  std::optional<MemoryFormat> memory_format = std::nullopt);

void set_num_threads(int);
int get_num_threads();
template <class F>
void parallel_for(const int64_t begin, const int64_t end, const int64_t grain_size, const F& f) {
  f(begin, end);
}
void manual_seed(uint64_t seed);

}  // namespace at
