// SPDX-License-Identifier: Apache-2.0
// The stacks and the thread-local memory of this process's threads.
#pragma once

#include "report/memory.h"

#include <optional>
#include <string>
#include <vector>

namespace tensorscope::report {

/// A function that runs on the calling thread.
struct RunningFunction {
  std::uintptr_t pc = 0;  ///< in it
  std::uintptr_t begin = 0; ///< of its frame
  std::uintptr_t cfa = 0; ///< end of its frame
};

struct ThreadMemory {
  int id = 0;             ///< the system's
  std::string name;
  AddressRange stack;     ///< what is in use of it; all of it where that is not known
  bool in_use_known = false;
  std::uintptr_t pointer = 0; ///< the end of its thread-local variables; 0 if not found
};

/// All threads, the calling one first; then, without a number and with nothing in use, the stacks of those that have ended.
std::vector<ThreadMemory> threads_of_process(const std::vector<Mapping>& mappings);

/// The functions that run on the calling thread, the innermost first.
std::vector<RunningFunction> running_functions();

/// Where the library was called from.
struct CallersFrame {
  std::uintptr_t begin = 0;              ///< of the frame, on the calling thread's stack
  std::vector<std::uintptr_t> registers; ///< that a call leaves alone, as the caller has them
};

/// The innermost frame that is none of this library's. Where there is none, the frame that calls this.
CallersFrame caller_of_library();

/// The part of a library's thread-local block.
struct ThreadLocalPlace {
  std::uintptr_t library = 0; ///< an address in the library that the block belongs to
  std::uintptr_t offset = 0;  ///< in its block
};

/// Which library's thread-local variables lie `below` bytes under a thread's pointer, if they were there when the program
/// started.
std::optional<ThreadLocalPlace> thread_local_place(std::uintptr_t below);

} // namespace tensorscope::report
