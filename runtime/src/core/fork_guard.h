// SPDX-License-Identifier: Apache-2.0
// What other threads were changing when a process is forked would stay half changed, and locked, in the child. So the
// forking thread holds the library's locks over the fork.
#pragma once

#include <cstdint>
#include <mutex>

namespace tensorscope::core {

/// Holds `mutex` over each later fork. It is never destroyed. Mutexes that are taken one inside another are given with
/// the outer one first.
void hold_over_fork(std::mutex& mutex) noexcept;

/// A new `Object`, never destroyed, whose member `mutex` is held over each later fork.
template <class Object>
Object* make_fork_safe() {
  auto* const object = new Object;
  hold_over_fork(object->mutex);
  return object;
}

/// How many forks lie between the first process and this one. What carries an earlier number is the parent's.
std::uint32_t process_generation() noexcept;

/// Puts the handlers in place, for these mutexes and the ledgers of all threads. Call once.
void guard_forks();

} // namespace tensorscope::core
