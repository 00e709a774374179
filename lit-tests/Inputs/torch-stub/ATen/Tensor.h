// SPDX-License-Identifier: Apache-2.0
// at::TensorBase and at::Tensor with LibTorch's names, overloads and reference qualifiers (declarations only).
#pragma once

#include <c10/core.h>

namespace at {

class Tensor;
class Generator {
 public:
  Generator() = default;
};
using TensorList = ArrayRef<Tensor>;
using ITensorListRef = ArrayRef<Tensor>;

template <typename T, size_t N>
class TensorAccessor {
 public:
  TensorAccessor<T, N - 1> operator[](int64_t i);
  int64_t size(int64_t i) const;
  T* data();
};
template <typename T>
class TensorAccessor<T, 1> {
 public:
  T& operator[](int64_t i);
  int64_t size(int64_t i) const;
  T* data();
};

namespace indexing {
struct Slice {
  Slice(std::optional<int64_t> start = std::nullopt, std::optional<int64_t> stop = std::nullopt,
        std::optional<int64_t> step = std::nullopt);
};
enum class EllipsisIndexType { Ellipsis };
inline constexpr EllipsisIndexType Ellipsis = EllipsisIndexType::Ellipsis;
inline constexpr std::nullopt_t None = std::nullopt;
struct TensorIndex final {
  TensorIndex(std::nullopt_t);
  TensorIndex(EllipsisIndexType);
  TensorIndex(int64_t integer);
  TensorIndex(int integer);
  TensorIndex(bool boolean);
  TensorIndex(Slice slice);
  TensorIndex(Tensor tensor);
};
}  // namespace indexing

class TensorBase {
 public:
  TensorBase() = default;
  explicit TensorBase(intrusive_ptr<TensorImpl, UndefinedTensorImpl> tensor_impl);
  TensorBase(const TensorBase&) = default;
  TensorBase(TensorBase&&) noexcept = default;
  ~TensorBase() noexcept = default;
  TensorBase& operator=(const TensorBase& x) &;
  TensorBase& operator=(TensorBase&& x) & noexcept;
  TensorBase& operator=(const TensorBase&) && = delete;
  TensorBase& operator=(TensorBase&&) && noexcept = delete;

  int64_t dim() const;
  int64_t numel() const;
  int64_t size(int64_t dim) const;
  int64_t stride(int64_t dim) const;
  IntArrayRef sizes() const;
  IntArrayRef strides() const;
  int64_t storage_offset() const;
  size_t nbytes() const;
  size_t itemsize() const;
  bool defined() const;
  void reset();
  bool is_same(const TensorBase& other) const noexcept;
  size_t use_count() const noexcept;
  bool has_storage() const;
  const Storage& storage() const;
  bool is_contiguous(MemoryFormat memory_format = MemoryFormat::Contiguous) const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool requires_grad() const;
  bool is_leaf() const;
  Device device() const;
  ScalarType scalar_type() const;
  ScalarType dtype() const;
  TensorOptions options() const;
  std::string toString() const;
  void print() const;
  void* data_ptr() const;
  const void* const_data_ptr() const;
  void* mutable_data_ptr() const;
  template <typename T>
  T* data_ptr() const;
  template <typename T>
  const T* const_data_ptr() const;
  template <typename T>
  T* mutable_data_ptr() const;
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() const&;
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  TensorImpl* unsafeGetTensorImpl() const;
  TensorImpl* unsafeReleaseTensorImpl();
  const intrusive_ptr<TensorImpl, UndefinedTensorImpl>& getIntrusivePtr() const;
  intrusive_ptr<TensorImpl, UndefinedTensorImpl> unsafeReleaseIntrusivePtr();
  void set_data(const TensorBase& new_data) const;
  void retain_grad() const;
  int64_t _version() const;

 protected:
  intrusive_ptr<TensorImpl, UndefinedTensorImpl> impl_;
};

class Tensor : public TensorBase {
 public:
  Tensor() = default;
  explicit Tensor(intrusive_ptr<TensorImpl, UndefinedTensorImpl> tensor_impl);
  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) = default;
  explicit Tensor(const TensorBase& base);
  Tensor(TensorBase&& base);
  static Tensor wrap_tensor_impl(intrusive_ptr<TensorImpl, UndefinedTensorImpl> tensor_impl);

  // Assignment to a name rebinds the handle; assignment to an rvalue writes into the tensor's data.
  Tensor& operator=(const TensorBase& x) & noexcept;
  Tensor& operator=(TensorBase&& x) & noexcept;
  Tensor& operator=(const Tensor& x) & noexcept;
  Tensor& operator=(Tensor&& x) & noexcept;
  Tensor& operator=(const Scalar& v) &&;
  Tensor& operator=(const Tensor& rhs) &&;
  Tensor& operator=(Tensor&& rhs) &&;

  template <typename T>
  T item() const;
  Scalar item() const;

  Tensor operator~() const;
  Tensor operator-() const;
  Tensor& operator+=(const Tensor& other);
  Tensor& operator+=(const Scalar& other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator-=(const Scalar& other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator*=(const Scalar& other);
  Tensor& operator/=(const Tensor& other);
  Tensor& operator/=(const Scalar& other);
  Tensor operator[](const Scalar& index) const;
  Tensor operator[](const Tensor& index) const;
  Tensor operator[](int64_t index) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& rhs);
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& v);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& rhs);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& v);

  // Autograd.
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false, std::optional<TensorList> inputs = std::nullopt) const;
  const Tensor& set_requires_grad(bool requires_grad) const;
  const Tensor& requires_grad_(bool _requires_grad = true) const;
  Tensor& mutable_grad() const;
  const Tensor& grad() const;
  Tensor detach() const;
  Tensor& detach_() const;
  Tensor data() const;
  Tensor variable_data() const;
  Tensor tensor_data() const;
  template <typename T>
  unsigned register_hook(T&& hook) const {
    hook(Tensor());
    return 0;
  }
  void remove_hook(unsigned pos) const;

  // Views.
  Tensor view(IntArrayRef size) const;
  Tensor view(ScalarType dtype) const;
  Tensor view_as(const Tensor& other) const;
  Tensor reshape(IntArrayRef shape) const;
  Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  Tensor select(int64_t dim, int64_t index) const;
  Tensor slice(int64_t dim = 0, std::optional<int64_t> start = std::nullopt,
               std::optional<int64_t> end = std::nullopt, int64_t step = 1) const;
  Tensor t() const;
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  Tensor permute(IntArrayRef dims) const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t dim) const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor expand(IntArrayRef size, bool implicit = false) const;
  Tensor diagonal(int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) const;
  Tensor contiguous(MemoryFormat memory_format = MemoryFormat::Contiguous) const;
  std::vector<Tensor> chunk(int64_t chunks, int64_t dim = 0) const;
  std::vector<Tensor> split(int64_t split_size, int64_t dim = 0) const;
  std::vector<Tensor> unbind(int64_t dim = 0) const;

  // Copies and conversions.
  Tensor clone(std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(TensorOptions options = {}, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(Device device, ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(ScalarType dtype, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor toType(ScalarType t) const;
  Tensor cpu() const;
  Tensor cuda() const;
  Tensor type_as(const Tensor& other) const;
  Tensor pin_memory(std::optional<Device> device = std::nullopt) const;
  void record_stream(Stream s) const;

  // In place.
  Tensor& copy_(const Tensor& src, bool non_blocking = false) const;
  Tensor& zero_() const;
  Tensor& fill_(const Scalar& value) const;
  Tensor& fill_(const Tensor& value) const;
  Tensor& add_(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor& add_(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor& sub_(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor& mul_(const Tensor& other) const;
  Tensor& mul_(const Scalar& other) const;
  Tensor& div_(const Tensor& other) const;
  Tensor& div_(const Scalar& other) const;
  Tensor& clamp_(const std::optional<Scalar>& min, const std::optional<Scalar>& max = std::nullopt) const;
  Tensor& scatter_(int64_t dim, const Tensor& index, const Tensor& src) const;
  Tensor& scatter_add_(int64_t dim, const Tensor& index, const Tensor& src) const;
  const Tensor& resize_(IntArrayRef size, std::optional<MemoryFormat> memory_format = std::nullopt) const;

  // New tensors.
  Tensor add(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor add(const Scalar& other, const Scalar& alpha = 1) const;
  Tensor sub(const Tensor& other, const Scalar& alpha = 1) const;
  Tensor mul(const Tensor& other) const;
  Tensor mul(const Scalar& other) const;
  Tensor div(const Tensor& other) const;
  Tensor div(const Scalar& other) const;
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& mat2) const;
  Tensor pow(const Scalar& exponent) const;
  Tensor exp() const;
  Tensor log() const;
  Tensor sin() const;
  Tensor cos() const;
  Tensor tanh() const;
  Tensor abs() const;
  Tensor sqrt() const;
  Tensor relu() const;
  Tensor sigmoid() const;
  Tensor softmax(int64_t dim, std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor log_softmax(int64_t dim, std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor sum(std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor sum(OptionalIntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor mean(std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor mean(OptionalIntArrayRef dim, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt) const;
  Tensor norm(const Scalar& p = 2) const;
  Tensor std(bool unbiased) const;
  Tensor var(bool unbiased) const;
  Tensor max() const;
  Tensor max(const Tensor& other) const;
  std::tuple<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const;
  Tensor min() const;
  Tensor argmax(std::optional<int64_t> dim = std::nullopt, bool keepdim = false) const;
  Tensor argmin(std::optional<int64_t> dim = std::nullopt, bool keepdim = false) const;
  std::tuple<Tensor, Tensor> topk(int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true) const;
  std::tuple<Tensor, Tensor> sort(int64_t dim = -1, bool descending = false) const;
  Tensor multinomial(int64_t num_samples, bool replacement = false,
                     std::optional<Generator> generator = std::nullopt) const;
  Tensor eq(const Scalar& other) const;
  Tensor eq(const Tensor& other) const;
  Tensor lt(const Scalar& other) const;
  Tensor lt(const Tensor& other) const;
  Tensor clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max = std::nullopt) const;
  Tensor index_select(int64_t dim, const Tensor& index) const;
  Tensor gather(int64_t dim, const Tensor& index, bool sparse_grad = false) const;
  Tensor masked_fill(const Tensor& mask, const Scalar& value) const;
  Tensor repeat(IntArrayRef repeats) const;
};

}  // namespace at
