// SPDX-License-Identifier: Apache-2.0
// Who may still read what was just released: the operators that were under way on any thread. Bytes wait until
// each of them has ended. Called by the release path; the marks themselves are set by the observer.
#pragma once

#include "core/thread_record.h"

#include <cstdint>
#include <vector>

namespace tensorscope::core {

/// The operators of other threads that were under way at one moment.
class Epoch {
 public:
  /// Takes the moment. What was marked as released before this call is seen by every operator that begins
  /// after it. `self` is left out: an operator of the calling thread that encloses the call takes up its
  /// data again only by handles.
  static Epoch now(const ThreadRecord* self);

  /// Whether all of them have ended.
  bool over();

 private:
  struct Running {
    const ThreadRecord* thread;
    std::uint64_t stamp;
  };
  std::vector<Running> running_;
  bool unseen_threads_ = false; ///< threads that may be in an operator which began before the observer was there
};

/// In a child process, where only the forking thread goes on: the operators of all others are over.
void forget_other_threads() noexcept;

/// Notes which threads exist when the observer is put in place. Call once, right after.
void note_unobserved_threads();

} // namespace tensorscope::core
