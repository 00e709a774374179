// SPDX-License-Identifier: Apache-2.0
// The runtime's API as the analyzer sees it, on the stub LibTorch (declarations only). The names and shapes are
// those of runtime/include/tensorscope/tensorscope.h; infrastructure/runtime-api.cpp compiles against both.
#pragma once

#include <torch/types.h>

#include <source_location>
#include <type_traits>

namespace tensorscope {

class UsageError : public std::exception {};
class UseAfterRelease : public std::exception {};

template <typename Body>
auto with_torch(Body&& body, std::source_location where = std::source_location::current()) {
  return std::forward<Body>(body)();
}

class Scope {
 public:
  explicit Scope(std::source_location where = std::source_location::current());
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  template <typename T>
  std::decay_t<T> retain(T&& x) {
    return std::forward<T>(x);
  }
};

class Session {
 public:
  explicit Session(std::source_location where = std::source_location::current());
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

void start_session(std::source_location where = std::source_location::current());
void stop_session(std::source_location where = std::source_location::current());

template <typename T>
std::decay_t<T> retain(T&& x) {
  return std::forward<T>(x);
}
template <typename T>
std::decay_t<T> rescue_pointers(T&& x) {
  return std::forward<T>(x);
}
template <typename T>
void release(const T& x, std::source_location where = std::source_location::current()) {}
template <typename T>
void adopt(const T& x) {}
template <typename T>
std::decay_t<T> promote(T&& x) {
  return std::forward<T>(x);
}
template <typename T>
void drop(T& x) {}
template <typename T>
bool alive(const T& x) {
  return x.defined();
}
template <typename T>
std::decay_t<T> track(T&& x) {
  return std::forward<T>(x);
}
template <typename T>
void ignore(const T& x) {}

struct GcResult {
  std::size_t live_bytes = 0;
};
GcResult gc();

}  // namespace tensorscope
