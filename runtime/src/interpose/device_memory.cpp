// SPDX-License-Identifier: Apache-2.0
// Stands before the report that allocators of devices make of each allocation, for profilers. See interposers.cpp.
#define TENSORSCOPE_DEFINES_INTERPOSERS
#include "hooks/devices.h"
#include "interpose/interpose.h"
#include "interpose/symbols.h"

TENSORSCOPE_INTERPOSE(void, report_memory, TENSORSCOPE_SYMBOL_REPORT_MEMORY, void*, std::int64_t, std::size_t, std::size_t,
                      c10::Device)

namespace {

using Report = void (*)(void*, std::int64_t, std::size_t, std::size_t, c10::Device);

/// Found when the program starts: later an allocator's lock is held, and the dynamic linker has one of its own.
const Report next_report = reinterpret_cast<Report>(::dlsym(RTLD_NEXT, TENSORSCOPE_SYMBOL_REPORT_MEMORY));

} // namespace

void report_memory(void* bytes, std::int64_t size, std::size_t live, std::size_t reserved, c10::Device device) {
  tensorscope::hooks::note_device_memory(bytes, size, live, reserved, device);
  if (next_report != nullptr) {
    next_report(bytes, size, live, reserved, device);
  } else {
    call_original_report_memory(bytes, size, live, reserved, device); // another library's beginning allocates
  }
}
