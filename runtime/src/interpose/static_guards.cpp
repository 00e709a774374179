// SPDX-License-Identifier: Apache-2.0
// Calls that compilers put around the first initialisation of a function's static variable. What is made in between
// lives as long as the program, whatever scope happens to be open. Compiled code asks the guard's byte first, so none of
// this is reached once the variable is there. Weak: a sanitizer that is linked in has definitions of its own.
#define TENSORSCOPE_DEFINES_INTERPOSERS
#include "hooks/library_calls.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

namespace {

/// The C++ library's own function. Without a static variable of its own, which would lead back here.
template <class Function>
Function* original(std::atomic<Function*>& known, const char* symbol) {
  Function* function = known.load(std::memory_order_relaxed);
  if (function == nullptr) {
    function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, symbol));
    if (function == nullptr) {
      std::abort(); // no program runs without the C++ library
    }
    known.store(function, std::memory_order_relaxed);
  }
  return function;
}

constinit std::atomic<int (*)(void*)> acquire{nullptr};
constinit std::atomic<void (*)(void*)> release{nullptr};
constinit std::atomic<void (*)(void*)> abort_guard{nullptr};

} // namespace

#define TENSORSCOPE_GUARD(result, name, symbol)                                             \
  __attribute__((visibility("default"), used, weak)) result name(void* guard) __asm__(symbol);

TENSORSCOPE_GUARD(int, guard_acquire, "__cxa_guard_acquire")
TENSORSCOPE_GUARD(void, guard_release, "__cxa_guard_release")
TENSORSCOPE_GUARD(void, guard_abort, "__cxa_guard_abort")

int guard_acquire(void* guard) {
  const int mine = original(acquire, "__cxa_guard_acquire")(guard);
  if (mine != 0) {
    tensorscope::hooks::note_static_begins(guard);
  }
  return mine;
}

void guard_release(void* guard) {
  tensorscope::hooks::note_static_ends(guard);
  original(release, "__cxa_guard_release")(guard);
}

void guard_abort(void* guard) {
  tensorscope::hooks::note_static_ends(guard);
  original(abort_guard, "__cxa_guard_abort")(guard);
}
