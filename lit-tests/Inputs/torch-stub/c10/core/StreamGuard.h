// SPDX-License-Identifier: Apache-2.0
// Guards that switch the thread's stream (declarations only).
#pragma once

#include <c10/core.h>

namespace c10 {

struct StreamGuard {
  explicit StreamGuard(Stream stream);
  ~StreamGuard();
  void reset_stream(Stream stream);
  Stream original_stream() const;
  Stream current_stream() const;
};
struct OptionalStreamGuard {
  explicit OptionalStreamGuard();
  explicit OptionalStreamGuard(Stream stream);
  explicit OptionalStreamGuard(std::optional<Stream> stream_opt);
  ~OptionalStreamGuard();
  void reset_stream(Stream stream);
  void reset();
};
struct MultiStreamGuard {
  explicit MultiStreamGuard(ArrayRef<Stream> streams);
  ~MultiStreamGuard();
};

}  // namespace c10
