// SPDX-License-Identifier: Apache-2.0
// Where the dynamic linker finds a symbol.
#pragma once

namespace tensorscope::platform {

/// Whether the first definition of `symbol` in the program's search order lies in the executable or library that
/// holds `address`.
bool found_in_object_of(const char* symbol, const void* address) noexcept;

} // namespace tensorscope::platform
