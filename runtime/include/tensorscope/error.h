// SPDX-License-Identifier: Apache-2.0
// What the library throws.
#pragma once

#include <tensorscope/detail/export.h>

#include <c10/util/Exception.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tensorscope {
TENSORSCOPE_INLINE_NAMESPACE {

/// A released tensor was used: through the handle that was released, a copy of it, a view, or the graph.
///
/// Thrown from inside LibTorch, at the operator or data access that touched the tensor. `what()` names what
/// was released, by what (a call, a scope's end, a session's end), and where that stands in the source.
/// It is a `c10::Error`, so code that handles LibTorch's errors handles this one.
///
/// Not promised: raw pointers taken earlier, and `size()`, `dtype()` and other fields that LibTorch reads
/// inline, give no error. Where the program is linked so that the library can't intercept LibTorch (one
/// line on stderr says so), a data access throws a plain `c10::Error` with the same text instead: see
/// `is_use_after_release`.
class TENSORSCOPE_API UseAfterRelease : public c10::Error {
 public:
#if defined(TENSORSCOPE_DISABLED)
  explicit UseAfterRelease(std::string text) : c10::Error(std::move(text)) {}
#else
  explicit UseAfterRelease(std::string text);
  UseAfterRelease(const UseAfterRelease&);
  ~UseAfterRelease() override;
#endif
};

/// A call that makes no sense where it stands, such as a session started inside a scope.
/// Nothing was changed. The message says what to do instead.
class TENSORSCOPE_API UsageError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Tensors left a scope or session by a way that its result does not show, under `on_escape=throw`.
/// The scope is closed and the tensors are released when this is thrown. Never thrown by a destructor.
class TENSORSCOPE_API EscapeError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The library can't work here: a bad value in TENSORSCOPE_OPTIONS, or a hook that LibTorch refused.
/// The message names the key or the hook. Thrown by the first call that needs it, and by each later one.
class TENSORSCOPE_API EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether `error` tells of a use after release, whichever way it was thrown.
///
/// True for every `UseAfterRelease`, and for the plain `c10::Error` that takes its place where LibTorch
/// can't be intercepted.
inline bool is_use_after_release(const c10::Error& error) {
  return dynamic_cast<const UseAfterRelease*>(&error) != nullptr ||
      error.msg().find("tensorscope: use after release") != std::string::npos;
}

} // inline namespace
} // namespace tensorscope
