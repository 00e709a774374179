// SPDX-License-Identifier: Apache-2.0
// What is loaded at an address, and whether libraries have been unloaded.
#pragma once

#include <cstdint>

namespace tensorscope::platform {

struct LoadedCode {
  bool found = false;            ///< a library, or the program, is there
  void* unwind_header = nullptr; ///< its `.eh_frame_hdr`; null if it has none
};

/// Takes no lock where the system's dynamic linker can do without.
LoadedCode loaded_code_at(std::uintptr_t address) noexcept;

/// This thread has called, or is about to call, `dlclose`.
void note_unloading() noexcept;

/// A number that is another one once a library that was there before may be gone.
std::uint64_t unloads() noexcept;

/// Says that every `dlclose` is noted. Until then `unloads` asks the dynamic linker, which takes its lock.
void unloading_is_noted() noexcept;

} // namespace tensorscope::platform
