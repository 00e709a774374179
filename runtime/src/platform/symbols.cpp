// SPDX-License-Identifier: Apache-2.0
// Questions to the dynamic linker.
#include "platform/symbols.h"

#include <dlfcn.h>

namespace tensorscope::platform {

bool found_in_object_of(const char* symbol, const void* address) noexcept {
  const void* const found = ::dlsym(RTLD_DEFAULT, symbol);
  Dl_info there{};
  Dl_info here{};
  return found != nullptr && ::dladdr(found, &there) != 0 && ::dladdr(address, &here) != 0 &&
      there.dli_fbase == here.dli_fbase;
}

} // namespace tensorscope::platform
