// SPDX-License-Identifier: Apache-2.0
// Stops all other threads of the process for a moment, as LeakSanitizer does, and says what is in their registers. Only a
// tracer can: it is a process of its own, which shares this one's memory.
#pragma once

#include "report/own_mapping.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tensorscope::report {

/// What a stopped thread has in its registers, those for vectors included.
struct ThreadRegisters {
  int id = 0;
  std::uintptr_t stack_pointer = 0;
  std::uintptr_t pointer = 0; ///< of the thread: where its own block begins
  std::array<std::uintptr_t, 64> words{};
};

/// While one of these has stopped the others, the calling thread must take no lock that they may hold: it must neither
/// allocate memory nor call into the loader.
class StoppedThreads {
 public:
  StoppedThreads();
  ~StoppedThreads();
  StoppedThreads(const StoppedThreads&) = delete;
  StoppedThreads& operator=(const StoppedThreads&) = delete;

  /// Whether all are stopped. They are not where the system or a debugger does not let them be, or where one does not
  /// stop soon.
  bool stop() noexcept;
  void go_on() noexcept;

  std::span<const ThreadRegisters> threads() const noexcept; ///< as they were when the last `stop` was done
  AddressRange own_memory() const noexcept { return memory_.range(); } ///< holds copies of what threads have

 private:
  struct Shared;
  OwnMapping memory_;
  Shared* shared_ = nullptr; ///< in it
  int tracer_ = 0;
};

} // namespace tensorscope::report
