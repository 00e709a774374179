// SPDX-License-Identifier: Apache-2.0
// Whether any handle to a tensor is left anywhere in the program's memory.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tensorscope::report {

/// A range of addresses, without its end.
using AddressRange = std::pair<std::uintptr_t, std::uintptr_t>;

/// Which of the objects, given by the complements of their addresses so that the question itself is no handle, are
/// pointed at by an aligned word of memory that the program can write to. `skipped` (tensors' own bytes) and the calling
/// thread's stack are not searched: call it when that thread's variables are gone.
///
/// A word that is left over from earlier counts as a handle, so "no" can be relied on more than "yes". Reads at a few
/// GB/s; other threads may run meanwhile.
std::vector<bool> have_handles(const std::vector<std::uintptr_t>& complements, std::vector<AddressRange> skipped);

} // namespace tensorscope::report
