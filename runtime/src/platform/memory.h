// SPDX-License-Identifier: Apache-2.0
// Reads memory that may go away meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tensorscope::platform {

/// Whether all bytes could be read.
bool read_memory(std::uintptr_t from, void* to, std::size_t bytes) noexcept;

/// Whether two blocks hold the same. Of large ones the first pages are compared. False where they can't be read.
bool same_bytes(const void* one, const void* other, std::size_t size) noexcept;

} // namespace tensorscope::platform
