// SPDX-License-Identifier: Apache-2.0
// What can be said of tensors that scopes own: retain, promote, adopt, release, drop and the like.
// Each takes a tensor or any value that leads to tensors (see traversal.h).
#pragma once

#include <tensorscope/detail/export.h>
#include <tensorscope/error.h>

#if !defined(TENSORSCOPE_DISABLED)
#include <tensorscope/detail/adoption.h>
#include <tensorscope/detail/runtime.h>
#endif

#include <ATen/core/TensorBase.h>

#include <source_location>
#include <type_traits>
#include <utility>

namespace tensorscope {
namespace detail {
/// How a function gives its argument back: a variable as itself, a temporary or a constant by value. Never a
/// reference to a constant, which could be bound to a temporary that is gone.
template <class T>
using given_back = std::conditional_t<
    std::is_lvalue_reference_v<T> && !std::is_const_v<std::remove_reference_t<T>>, T, std::remove_cvref_t<T>>;
} // namespace detail

TENSORSCOPE_INLINE_NAMESPACE {

/// Takes every tensor reachable from `value` out of whichever scope or session owns it, and gives `value` back.
///
/// Plain reference counting owns them from then on. A flag, not a counter: twice is once; nothing happens to
/// a tensor that no scope owns. Keeps whole storages: retaining one row of a 4 GB tensor keeps 4 GB. What a
/// later `backward()` of a retained tensor needs is kept too. Legal from any thread, before the scope ends.
template <class T>
detail::given_back<T> retain(T&& value) {
#if !defined(TENSORSCOPE_DISABLED)
  detail::retain_tensors(detail::tensors_of(value));
#endif
  return std::forward<T>(value);
}

/// `retain` by the name that Clorch's users know.
template <class T>
detail::given_back<T> rescue_pointers(T&& value) {
  return tensorscope::retain(std::forward<T>(value));
}

/// Hands every tensor reachable from `value` that this thread's innermost scope owns to the scope or session
/// around it, and gives `value` back. With none around it, this is `retain`. Tensors that the innermost scope
/// does not own stay as they are.
template <class T>
detail::given_back<T> promote(T&& value) {
#if !defined(TENSORSCOPE_DISABLED)
  detail::promote_tensors(detail::tensors_of(value));
#endif
  return std::forward<T>(value);
}

/// Frees the memory of every tensor reachable from `value` now, for all aliases: copies of the handle, views,
/// `detach()`ed and saved ones. Any later use is a `UseAfterRelease`.
///
/// Not to be mistaken for `c10::intrusive_ptr::release`, which gives up a pointer without counting down.
/// Twice is once. `defined()` stays true, `alive(value)` is false. While another thread is in an operator
/// that reads the memory, the bytes are freed when that operator ends. Never throws for a released tensor.
template <class T>
void release(const T& value, const std::source_location& where = std::source_location::current()) {
#if !defined(TENSORSCOPE_DISABLED)
  detail::release_tensors(detail::tensors_of(value), where);
#else
  static_cast<void>(value);
  static_cast<void>(where);
#endif
}

/// Gives up this handle alone: `value` is assigned an empty value. The memory goes when the last handle does.
template <class T>
void drop(T& value) {
  static_assert(!std::is_const_v<T>, "drop needs a handle that it may empty");
  value = T();
}

/// Whether every tensor reachable from `value` can be used: defined, and not released. False for an undefined
/// tensor; true for a value that leads to no tensor. Thread-safe; the answer can be old when it arrives.
template <class T>
[[nodiscard]] bool alive(const T& value) {
  if constexpr (std::is_base_of_v<at::TensorBase, T>) {
    if (!value.defined()) {
      return false;
    }
  }
#if !defined(TENSORSCOPE_DISABLED)
  return detail::all_alive(detail::tensors_of(value));
#else
  return true;
#endif
}

/// Tells the innermost scope or session of this thread about tensors that it could not see being made, such
/// as those of a library that hides its operators; gives `value` back. The scope owns them then, unless a
/// scope owns them already. Without a scope, nothing happens. Track only what belongs to the scope: an older
/// tensor that is tracked is released at the scope's end.
template <class T>
detail::given_back<T> track(T&& value) {
#if !defined(TENSORSCOPE_DISABLED)
  detail::track_tensors(detail::tensors_of(value));
#endif
  return std::forward<T>(value);
}

/// Takes every tensor reachable from `value` out of the ledger: no scope releases it, no figure and no report
/// names it. For things that live as long as the program. Gives `value` back.
template <class T>
detail::given_back<T> ignore(T&& value) {
#if !defined(TENSORSCOPE_DISABLED)
  detail::ignore_tensors(detail::tensors_of(value));
#endif
  return std::forward<T>(value);
}

#if defined(TENSORSCOPE_DISABLED)
class Adoption {};
template <class T>
Adoption adopt(T&&) {
  return {};
}
#else
using detail::Adoption;
using detail::adopt;
#endif

} // inline namespace
} // namespace tensorscope
