// SPDX-License-Identifier: Apache-2.0
// Stands before the system's locks and counts which of them our library takes, on how many threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lock_counter {

/// Acquisitions below some frame of the library that `inside` lies in, on threads that are `watched`.
struct Count {
  std::uint64_t all = 0;
  std::uint64_t shared = 0;          ///< of locks that more than one thread took
  std::vector<std::string> examples; ///< a line for each shared lock: what was called, from where
};

/// Counts from now on what is taken below the library of that name.
void start(const char* library);
Count stop();

/// While it lives, its thread's acquisitions count.
class Watched {
 public:
  Watched();
  ~Watched();
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
};

} // namespace lock_counter
