// SPDX-License-Identifier: Apache-2.0
// How the library is set up. Values come from TENSORSCOPE_OPTIONS=key=value:key=value in the environment.
#pragma once

#include <tensorscope/detail/export.h>

namespace tensorscope {
TENSORSCOPE_INLINE_NAMESPACE {

/// How much the library does.
enum class Level {
  off,    ///< every call passes through: scopes own nothing, `release` frees nothing
  scopes, ///< the semantics of scopes, without stacks or reports at exit
  full,   ///< besides: stacks, errors with all their places, and a report of what leaked at exit
};

/// What happens to a tensor that is still held somewhere when the scope that owns it ends.
enum class OnEscape {
  release,      ///< its memory is freed; a later use is a `UseAfterRelease`. The default.
  report,       ///< it is left alive, and a line on stderr names it
  throw_error,  ///< it is freed, and the scope's end throws `EscapeError` where it may (spelled `throw`)
};

/// The options in force. They are read once, when the library is loaded.
struct Options {
  Level level = Level::scopes;
  OnEscape on_escape = OnEscape::release;
};

#if defined(TENSORSCOPE_DISABLED)
inline Options options() { return {.level = Level::off}; }
#else
/// The options that this process runs with.
///
/// An unknown key is a warning on stderr. Throws `EnvironmentError` for a bad value, naming the key.
/// Thread-safe.
TENSORSCOPE_API Options options();
#endif

} // inline namespace
} // namespace tensorscope
