// SPDX-License-Identifier: Apache-2.0
// Whether any handle to a tensor is left anywhere in the program's memory.
#pragma once

#include "report/memory.h"

#include <cstdint>
#include <vector>

namespace tensorscope::report {

/// Where handles to an object were found.
enum class HandlePlace {
  nowhere,
  elsewhere, ///< on the heap, on another thread's stack, in thread-local memory
  in_static, ///< in a variable of the program or of a library, perhaps elsewhere too
};

/// Where aligned words of writable memory point at each of the objects, which are given by the complements of their
/// addresses so that the question itself is no handle. `skipped` (tensors' own bytes) and the calling thread's stack are
/// not searched: call it when that thread's variables are gone.
///
/// A word that is left over from earlier counts as a handle, so `nowhere` can be relied on more than the others. Reads at
/// a few GB/s; other threads may run meanwhile.
std::vector<HandlePlace> find_handles(const std::vector<std::uintptr_t>& complements, std::vector<AddressRange> skipped);

} // namespace tensorscope::report
