// SPDX-License-Identifier: Apache-2.0
// Part of the executable, so these definitions are found before the C library's. The C library's own calls do not pass
// here, so the functions by which the dynamic linker's lock is taken are stood before as well.
#include "lock_counter.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unwind.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

namespace lock_counter {
namespace {

struct Range {
  std::uintptr_t begin = 0, end = 0;
};
struct Taken {
  std::uint64_t times = 0;
  std::set<pthread_t> threads;
  std::string example;
};

template <class Function>
Function* next(const char* name) {
  auto* const found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  if (found == nullptr) {
    std::abort();
  }
  return found;
}

Range library;
std::atomic<bool> counting{false};
thread_local constinit bool watched = false;
thread_local constinit bool inside = false; // of this file
std::map<const void*, Taken>* locks = nullptr;
std::atomic_flag locks_are_used = ATOMIC_FLAG_INIT; // no mutex, which would be counted

struct Search {
  std::uintptr_t caller = 0;
};

_Unwind_Reason_Code look_at(_Unwind_Context* frame, void* data) {
  const auto pc = static_cast<std::uintptr_t>(_Unwind_GetIP(frame));
  if (pc >= library.begin && pc < library.end) {
    static_cast<Search*>(data)->caller = pc;
    return _URC_END_OF_STACK;
  }
  return _URC_NO_REASON;
}

void note(const void* lock, const char* call) {
  if (!watched || inside || !counting.load(std::memory_order_relaxed)) {
    return;
  }
  inside = true;
  Search search;
  _Unwind_Backtrace(&look_at, &search);
  if (search.caller != 0) {
    char line[128];
    std::snprintf(line, sizeof line, "%s below libtensorscope+0x%zx", call, search.caller - library.begin);
    while (locks_are_used.test_and_set(std::memory_order_acquire)) {
    }
    Taken& taken = (*locks)[lock];
    ++taken.times;
    taken.threads.insert(::pthread_self());
    taken.example = line;
    locks_are_used.clear(std::memory_order_release);
  }
  inside = false;
}

} // namespace

void start(const char* name) {
  library = {};
  std::pair<const char*, Range*> wanted{name, &library};
  next<int(int (*)(dl_phdr_info*, std::size_t, void*), void*)>("dl_iterate_phdr")(
      [](dl_phdr_info* info, std::size_t, void* data) {
        const auto& [file, range] = *static_cast<std::pair<const char*, Range*>*>(data);
        if (std::strstr(info->dlpi_name, file) == nullptr) {
          return 0;
        }
        range->begin = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            range->end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
          }
        }
        return 1;
      },
      &wanted);
  if (library.begin == library.end) {
    std::fprintf(stderr, "lock_counter: %s is not loaded\n", name);
    std::abort();
  }
  delete locks;
  locks = new std::map<const void*, Taken>;
  counting.store(true);
}

Count stop() {
  counting.store(false);
  Count count;
  for (const auto& [lock, taken] : *locks) {
    count.all += taken.times;
    if (taken.threads.size() > 1) {
      count.shared += taken.times;
      count.examples.push_back(taken.example + ", " + std::to_string(taken.times) + " times on " +
                               std::to_string(taken.threads.size()) + " threads");
    }
  }
  return count;
}

Watched::Watched() { watched = true; }
Watched::~Watched() { watched = false; }

} // namespace lock_counter

#define COUNTED(result, name, parameters, arguments, lock)                          \
  extern "C" __attribute__((visibility("default"))) result name parameters {        \
    using Function = result parameters;                                             \
    static constinit std::atomic<void*> known{nullptr};                             \
    void* original = known.load(std::memory_order_relaxed);                         \
    if (original == nullptr) {                                                      \
      original = reinterpret_cast<void*>(lock_counter::next<Function>(#name));      \
      known.store(original, std::memory_order_relaxed);                             \
    }                                                                               \
    lock_counter::note(lock, #name);                                                \
    return reinterpret_cast<Function*>(original) arguments;                         \
  }

namespace {
constexpr char dynamic_linker = 0;
}

COUNTED(int, pthread_mutex_lock, (pthread_mutex_t* mutex) noexcept, (mutex), mutex)
COUNTED(int, pthread_mutex_trylock, (pthread_mutex_t* mutex) noexcept, (mutex), mutex)
COUNTED(int, pthread_mutex_timedlock, (pthread_mutex_t* mutex, const timespec* time) noexcept, (mutex, time), mutex)
COUNTED(int, pthread_rwlock_rdlock, (pthread_rwlock_t* lock) noexcept, (lock), lock)
COUNTED(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t* lock) noexcept, (lock), lock)
COUNTED(int, pthread_rwlock_wrlock, (pthread_rwlock_t* lock) noexcept, (lock), lock)
COUNTED(int, pthread_rwlock_trywrlock, (pthread_rwlock_t* lock) noexcept, (lock), lock)
COUNTED(int, pthread_spin_lock, (pthread_spinlock_t* lock) noexcept, (lock), const_cast<const int*>(lock))
COUNTED(int, pthread_spin_trylock, (pthread_spinlock_t* lock) noexcept, (lock), const_cast<const int*>(lock))
COUNTED(int, dl_iterate_phdr, (int (*visit)(dl_phdr_info*, std::size_t, void*), void* data), (visit, data), &dynamic_linker)
COUNTED(int, dladdr, (const void* address, Dl_info* info) noexcept, (address, info), &dynamic_linker)
