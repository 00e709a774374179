// SPDX-License-Identifier: Apache-2.0
// Sessions: a long scope that is opened and closed by calls, for interactive work.
#pragma once

#include <tensorscope/detail/export.h>
#include <tensorscope/error.h>

#if !defined(TENSORSCOPE_DISABLED)
#include <tensorscope/detail/runtime.h>
#endif

#include <source_location>

namespace tensorscope {
TENSORSCOPE_INLINE_NAMESPACE {

#if defined(TENSORSCOPE_DISABLED)
inline void start_session() {}
inline void stop_session() {}
class [[nodiscard]] Session {
 public:
  Session() {}
  ~Session() {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};
#else

/// Opens a session on this thread: it owns what a scope would own, until `stop_session`.
///
/// A session that is already open is closed first. Each thread has its own; worker threads need their own.
/// Throws `UsageError` inside an open scope, and when scopes are open inside the first session: nothing is
/// changed then. A thread that ends with its session open leaves the session's tensors alive.
inline void start_session(const std::source_location& where = std::source_location::current()) {
  detail::open_session(where);
}

/// Closes this thread's session and releases all it owns, as the end of a scope does. Without a session it
/// has no effect. Throws `UsageError` while a scope is open inside it, `EscapeError` under `on_escape=throw`.
inline void stop_session(const std::source_location& where = std::source_location::current()) {
  detail::close_session(where);
}

/// A session that ends with this object. If the session was closed or replaced before, it does nothing.
/// Destroyed while a scope is open inside it, it keeps the tensors alive; destroyed on another thread, it
/// stays open on its own. Either prints one line.
class [[nodiscard]] Session {
 public:
  explicit Session(const std::source_location& where = std::source_location::current())
      : where_(where), open_(detail::open_session(where)) {}
  ~Session() { detail::abandon_session(open_, where_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  std::source_location where_;
  detail::OpenRegion open_;
};
#endif

} // inline namespace
} // namespace tensorscope
