// SPDX-License-Identifier: Apache-2.0
// The runtime's API as the analyzer sees it, on the stub LibTorch. The names and shapes are those of
// runtime/include/tensorscope/tensorscope.h; infrastructure/runtime-api.cpp compiles against both.
#pragma once

#include <torch/types.h>

#include <source_location>
#include <string>
#include <type_traits>

namespace tensorscope {
namespace detail {
template <class T>
using given_back = std::conditional_t<std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>, T,
                                      std::remove_cvref_t<T>>;
} // namespace detail

inline namespace v1 {

class UsageError : public std::exception {};
class UseAfterRelease : public std::exception {};

template <class T>
detail::given_back<T> retain(T&& value) {
  return std::forward<T>(value);
}
template <class T>
detail::given_back<T> rescue_pointers(T&& value) {
  return tensorscope::retain(std::forward<T>(value));
}
template <class T>
detail::given_back<T> promote(T&& value) {
  return std::forward<T>(value);
}
template <class T>
void release(const T& value, const std::source_location& where = std::source_location::current()) {}
template <class T>
void drop(T& value) {
  value = T();
}
template <class T>
[[nodiscard]] bool alive(const T& value) {
  return true;
}
template <class T>
detail::given_back<T> track(T&& value) {
  return std::forward<T>(value);
}
template <class T>
detail::given_back<T> ignore(T&& value) {
  return std::forward<T>(value);
}
class Adoption {};
template <class T>
Adoption adopt(T&& owner) {
  return {};
}

class [[nodiscard]] Scope {
 public:
  explicit Scope(const std::source_location& where = std::source_location::current());
  ~Scope();
  void close();
  template <class T>
  void close_keeping(const T& result) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  template <class T>
  decltype(auto) retain(T&& value) const {
    return tensorscope::retain(std::forward<T>(value));
  }
};

template <class Body>
auto with_torch(Body&& body, const std::source_location& where = std::source_location::current())
    -> std::decay_t<std::invoke_result_t<Body>> {
  return std::forward<Body>(body)();
}

void start_session(const std::source_location& where = std::source_location::current());
void stop_session(const std::source_location& where = std::source_location::current());
class [[nodiscard]] Session {
 public:
  explicit Session(const std::source_location& where = std::source_location::current());
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

struct DeviceStats {
  c10::DeviceType device = c10::DeviceType::CPU;
  std::uint64_t live = 0;
  std::uint64_t bytes = 0;
};
struct Stats {
  std::vector<DeviceStats> threads;
  DeviceStats total(c10::DeviceType device = c10::DeviceType::CPU) const;
};
struct GcReport {
  std::uint64_t live = 0;
  std::uint64_t bytes = 0;
};
Stats stats();
std::vector<GcReport> gc();

} // namespace v1
} // namespace tensorscope
