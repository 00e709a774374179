// SPDX-License-Identifier: Apache-2.0
// Declarations of c10 with LibTorch's own names and shapes, for the lit tests: enough for the analyzer to see
// what it sees in real programs, at a hundredth of the parse time. Nothing here is ever linked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace caffe2 {
class TypeMeta {
 public:
  template <typename T>
  static TypeMeta Make();
};
}  // namespace caffe2

namespace c10 {

void set_default_dtype(caffe2::TypeMeta dtype);

// Errors.
class Error : public std::exception {
 public:
  Error(std::string msg, std::string backtrace);
  const char* what() const noexcept override;
};
class OutOfMemoryError : public Error {
  using Error::Error;
};
class IndexError : public Error {
  using Error::Error;
};

// Counted pointers.
class intrusive_ptr_target {
 protected:
  virtual ~intrusive_ptr_target();
  intrusive_ptr_target();
};

template <class TTarget>
struct intrusive_target_default_null_type final {
  static constexpr TTarget* singleton() noexcept { return nullptr; }
};

template <class TTarget, class NullType = intrusive_target_default_null_type<TTarget>>
class intrusive_ptr final {
 public:
  intrusive_ptr() noexcept;
  intrusive_ptr(std::nullptr_t) noexcept;
  intrusive_ptr(intrusive_ptr&& rhs) noexcept;
  intrusive_ptr(const intrusive_ptr& rhs);
  ~intrusive_ptr() noexcept;
  intrusive_ptr& operator=(intrusive_ptr&& rhs) & noexcept;
  intrusive_ptr& operator=(const intrusive_ptr& rhs) & noexcept;
  TTarget* get() const noexcept;
  TTarget& operator*() const noexcept;
  TTarget* operator->() const noexcept;
  operator bool() const noexcept;
  void reset() noexcept;
  void swap(intrusive_ptr& rhs) noexcept;
  bool defined() const noexcept;
  uint32_t use_count() const noexcept;
  bool unique() const noexcept;
  TTarget* release() noexcept;
  static intrusive_ptr reclaim(TTarget* owning_ptr);
  static intrusive_ptr unsafe_reclaim_from_nonowning(TTarget* raw_ptr);
  template <class... Args>
  static intrusive_ptr make(Args&&... args);
};
template <class TTarget, class... Args>
intrusive_ptr<TTarget> make_intrusive(Args&&... args);

class StorageImpl;
struct TensorImpl : public intrusive_ptr_target {
  bool has_storage() const;
  int64_t numel() const;
};
struct UndefinedTensorImpl final : public TensorImpl {
  static TensorImpl* singleton();
};

// Small values.
enum class DeviceType : int8_t { CPU = 0, CUDA = 1 };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
using DeviceIndex = int8_t;

struct Device final {
  Device(DeviceType type, DeviceIndex index = -1);
  Device(const std::string& device_string);
  DeviceType type() const noexcept;
  bool is_cuda() const noexcept;
  bool is_cpu() const noexcept;
  bool operator==(const Device& other) const noexcept;
};

enum class ScalarType : int8_t { Byte, Char, Short, Int, Long, Half, Float, Double, Bool };
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short,
                     kInt = ScalarType::Int, kLong = ScalarType::Long, kHalf = ScalarType::Half,
                     kFloat = ScalarType::Float, kDouble = ScalarType::Double, kBool = ScalarType::Bool;
enum class Layout : int8_t { Strided, Sparse };
constexpr Layout kStrided = Layout::Strided;
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

class Stream final {
 public:
  int64_t id() const noexcept;
  template <typename T>
  void wait(const T& event) const;
  bool query() const;
  void synchronize() const;
};

class Scalar {
 public:
  Scalar();
  Scalar(double value);
  Scalar(float value);
  Scalar(int value);
  Scalar(long value);
  Scalar(long long value);
  Scalar(bool value);
  double toDouble() const;
  int64_t toLong() const;
  template <typename T>
  T to() const;
};

class SymInt {
 public:
  SymInt(int64_t value);
};

template <typename T>
class ArrayRef final {
 public:
  using iterator = const T*;
  using value_type = T;
  ArrayRef();
  ArrayRef(const T& one);
  ArrayRef(const T* data, size_t length);
  ArrayRef(const std::vector<T>& vec);
  template <size_t N>
  ArrayRef(const std::array<T, N>& arr);
  ArrayRef(const std::initializer_list<T>& list);
  iterator begin() const;
  iterator end() const;
  size_t size() const;
  bool empty() const;
  const T* data() const;
  const T& front() const;
  const T& back() const;
  const T& operator[](size_t index) const;
  std::vector<T> vec() const;
};
using IntArrayRef = ArrayRef<int64_t>;

template <typename T>
class OptionalArrayRef final {
 public:
  OptionalArrayRef() noexcept;
  OptionalArrayRef(std::nullopt_t) noexcept;
  OptionalArrayRef(const T& value);
  OptionalArrayRef(ArrayRef<T> value);
  OptionalArrayRef(const std::vector<T>& value);
  OptionalArrayRef(const std::initializer_list<T>& list);
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

struct TensorOptions {
  TensorOptions();
  TensorOptions(ScalarType dtype);
  TensorOptions(Device device);
  TensorOptions(DeviceType device);
  TensorOptions(Layout layout);
  TensorOptions device(Device device) const noexcept;
  TensorOptions device(DeviceType type, DeviceIndex index = -1) const noexcept;
  TensorOptions dtype(ScalarType dtype) const noexcept;
  TensorOptions layout(Layout layout) const noexcept;
  TensorOptions requires_grad(bool requires_grad = true) const noexcept;
  TensorOptions pinned_memory(bool pinned_memory = true) const noexcept;
};

inline TensorOptions dtype(ScalarType dtype) { return TensorOptions(dtype); }
inline TensorOptions device(Device device) { return TensorOptions(device); }
inline TensorOptions requires_grad(bool requires_grad = true) { return TensorOptions().requires_grad(requires_grad); }

struct Storage {
  Storage();
  size_t nbytes() const;
  void* mutable_data() const;
  const void* data() const;
  StorageImpl* unsafeGetStorageImpl() const noexcept;
  size_t use_count() const;
};

// Guards.
struct GradMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};
struct AutoGradMode {
  AutoGradMode(bool enabled);
  ~AutoGradMode();
};
struct NoGradGuard : public AutoGradMode {
  NoGradGuard();
};
struct InferenceMode {
  InferenceMode(bool enabled = true);
  ~InferenceMode();
};

}  // namespace c10

namespace at {
using namespace c10;
}
