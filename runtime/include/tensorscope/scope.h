// SPDX-License-Identifier: Apache-2.0
// Scopes: a region of code that owns the tensors made in it, and releases them at its end.
#pragma once

#include <tensorscope/detail/export.h>
#include <tensorscope/error.h>
#include <tensorscope/handles.h>

#include <functional>
#include <source_location>
#include <type_traits>
#include <utility>

namespace tensorscope {
TENSORSCOPE_INLINE_NAMESPACE {

/// A scope that lives as long as this object, for code that can't be a callable.
///
/// Owns each tensor that an operator makes on this thread while the scope is the innermost one. Does not own
/// what is older, views of what is older, what `backward()`, an optimizer's `step` or another part of
/// LibTorch makes for itself, what a function's static variable is initialised with, and what operators hidden
/// from LibTorch's observers make.
///
/// At the end, whatever it owns and something still holds is released (see `OnEscape`), except what was
/// retained or promoted, what an adopted owner or a `.grad` holds, and what `backward()` of a kept tensor, or
/// of a tensor older than the scope, still needs. Prefer `with_torch`, which keeps a result for you.
///
/// Scopes nest. A scope belongs to the thread that opened it and ends before those around it. One that is
/// destroyed on another thread or out of order keeps its tensors alive and prints one line. Coroutines that
/// suspend inside a scope are not supported.
class [[nodiscard]] Scope {
 public:
#if defined(TENSORSCOPE_DISABLED)
  explicit Scope(const std::source_location& = {}) {}
  ~Scope() {}
  void close() {}
#else
  /// Opens a scope on this thread. `where` is named by errors about what the scope released.
  /// Throws `EnvironmentError` when TENSORSCOPE_OPTIONS holds a bad value.
  explicit Scope(const std::source_location& where = std::source_location::current())
      : open_(detail::open_scope(where)) {}

  /// Closes the scope if it is still open. Never throws.
  ~Scope() {
    if (open_.region != nullptr) {
      detail::abandon_scope(open_);
    }
  }

  /// Closes the scope now. Closing twice is closing once.
  ///
  /// Throws `UsageError` if another scope is open inside it or it belongs to another thread (it stays open),
  /// and `EscapeError` under `on_escape=throw`.
  void close() { detail::close_scope(open_, {}); }

  /// Closes the scope and keeps every tensor reachable from `result`.
  template <class T>
  void close_keeping(const T& result) {
    detail::close_scope(open_, detail::tensors_of(result));
  }
#endif

  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Takes every tensor reachable from `value` out of its scope; see `tensorscope::retain`.
  template <class T>
  decltype(auto) retain(T&& value) const {
    return tensorscope::retain(std::forward<T>(value));
  }

 private:
#if !defined(TENSORSCOPE_DISABLED)
  detail::OpenRegion open_;
#endif
};

/// Runs `body` in a scope of its own and returns its result by value.
///
/// Every tensor reachable from the result leaves all scopes: plain reference counting owns it from then on.
/// A tensor of an outer scope that is returned stays with that scope. Everything else that the scope owns is
/// released; see `Scope`.
///
/// A body that throws closes its scope and keeps nothing; the exception goes on. Throws `EscapeError` under
/// `on_escape=throw`. A result type that the traversal can't look into is a compile-time error that says
/// what to do.
///
/// Callables are the exception: a `std::function`, a lambda with captures, a future or a thread compiles as a result,
/// and nobody can look into it. What it captured, or will deliver, is released like anything that is not part of
/// the result. `retain` those tensors before they are captured, or return them beside the callable.
///
/// Costs about as much as a function call and a few cache lines when the body makes no tensor.
template <class Body>
auto with_torch(Body&& body, const std::source_location& where = std::source_location::current())
    -> std::decay_t<std::invoke_result_t<Body>> {
#if defined(TENSORSCOPE_DISABLED)
  static_cast<void>(where);
  return std::invoke(std::forward<Body>(body));
#else
  Scope scope(where);
  if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
    std::invoke(std::forward<Body>(body));
    scope.close();
  } else {
    std::decay_t<std::invoke_result_t<Body>> result = std::invoke(std::forward<Body>(body));
    scope.close_keeping(result);
    return result;
  }
#endif
}

} // inline namespace
} // namespace tensorscope
