// SPDX-License-Identifier: Apache-2.0
// c10::IValue, List and Dict with LibTorch's names (declarations only).
#pragma once

#include <ATen/Functions.h>

#include <unordered_map>

namespace c10 {

struct IValue;

namespace impl {
template <class T>
class ListElementReference final {
 public:
  operator T() const;
};
template <class T>
class ListIterator final {
 public:
  ListElementReference<T> operator*() const;
  ListIterator& operator++();
  friend bool operator!=(const ListIterator& a, const ListIterator& b) {
    return false;
  }
};
}  // namespace impl

template <class T>
class List final {
 public:
  impl::ListIterator<T> begin() const;
  impl::ListIterator<T> end() const;
  List();
  List(std::initializer_list<T> values);
  explicit List(ArrayRef<T> values);
  T get(size_t pos) const;
  T operator[](size_t pos) const;
  void push_back(const T& value) const;
  void push_back(T&& value) const;
  size_t size() const;
  void clear() const;
  std::vector<T> vec() const;
};

template <class Key, class Value>
class Dict final {
 public:
  Dict();
  Value at(const Key& key) const;
  template <class Key_, class Value_>
  bool insert(Key_&& key, Value_&& value) const;
  template <class Key_, class Value_>
  bool insert_or_assign(Key_&& key, Value_&& value) const;
  size_t erase(const Key& key) const;
  bool contains(const Key& key) const;
  size_t size() const;
  void clear() const;
};

namespace ivalue {
struct Tuple : public intrusive_ptr_target {
  static intrusive_ptr<Tuple> create(std::vector<IValue> elements);
  const std::vector<IValue>& elements() const&;
};
}  // namespace ivalue

struct IValue final {
  IValue() = default;
  IValue(const IValue& rhs);
  IValue(IValue&& rhs) noexcept;
  ~IValue();
  IValue& operator=(IValue&& rhs) & noexcept;
  IValue& operator=(const IValue& rhs) & noexcept;
  IValue(at::TensorBase t);
  IValue(intrusive_ptr<ivalue::Tuple> v);
  IValue(double d);
  IValue(int64_t i);
  IValue(int32_t i);
  IValue(bool b);
  IValue(std::string v);
  IValue(const char* v);
  template <class T>
  IValue(List<T> v);
  template <class T>
  IValue(const std::vector<T>& v);
  template <class Key, class Value>
  IValue(Dict<Key, Value> v);
  bool isTensor() const;
  const at::Tensor& toTensor() const&;
  at::Tensor toTensor() &&;
  at::Tensor& toTensor() &;
  double toDouble() const;
  int64_t toInt() const;
  std::vector<at::Tensor> toTensorVector() const;
  intrusive_ptr<ivalue::Tuple> toTuple() const&;
  bool isNone() const;
};

}  // namespace c10
