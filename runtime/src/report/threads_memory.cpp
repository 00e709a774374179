// SPDX-License-Identifier: Apache-2.0
// Linux and glibc on x86-64: /proc says where a blocked thread's stack ends, and a thread's own block, which begins with
// its own address, stands at the stack's beginning. Elsewhere less is known.
#include "report/threads_memory.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tensorscope::report {
namespace {

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The stack pointer of a thread that waits in the kernel; 0 if it runs, or the kernel does not say.
std::uintptr_t stack_pointer(const std::string& task) {
  const std::string line = first_line(task + "/syscall");
  // "running", "-1 <stack> <code>", or "<number> <six arguments> <stack> <code>"
  const auto last = line.rfind(' ');
  if (last == std::string::npos || last == 0) {
    return 0;
  }
  const auto before = line.rfind(' ', last - 1);
  std::uintptr_t pointer = 0;
  return before != std::string::npos && std::sscanf(line.c_str() + before, " %" SCNxPTR, &pointer) == 1 ? pointer : 0;
}

#if defined(__x86_64__)
std::uintptr_t own_pointer() { return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()); }

/// The address of the block above `from` that a thread's pointer leads to.
std::uintptr_t pointer_above(std::uintptr_t from, const Mapping& stack) {
  constexpr std::uintptr_t kAlignment = 64;
  std::array<std::uintptr_t, 512> page{};
  for (std::uintptr_t at = from & ~std::uintptr_t{4095}; at + sizeof page <= stack.range.second; at += sizeof page) {
    if (!read_memory(at, page.data(), sizeof page)) {
      return 0;
    }
    for (std::size_t i = 0; i + 2 < page.size(); i += kAlignment / sizeof(page[0])) {
      const std::uintptr_t address = at + i * sizeof(page[0]);
      if (page[i] == address && page[i + 2] == address) {
        return address;
      }
    }
  }
  return 0;
}
#else
std::uintptr_t own_pointer() { return 0; }
std::uintptr_t pointer_above(std::uintptr_t, const Mapping&) { return 0; }
#endif

/// Finds the stack of a thread that runs: the one whose block has its number. What is in use of it is not known.
void find_stack(const std::vector<Mapping>& mappings, ThreadMemory& thread) {
  constexpr std::uintptr_t kNumber = 720; // in a thread's block, glibc on x86-64
  constexpr std::uintptr_t kNearEnd = 16384;
  for (const Mapping& mapping : mappings) {
    const std::uintptr_t size = mapping.range.second - mapping.range.first;
    if (!mapping.writable || !mapping.file.empty() || size < kNearEnd) {
      continue;
    }
    const std::uintptr_t pointer = pointer_above(mapping.range.second - kNearEnd, mapping);
    int number = 0;
    if (pointer != 0 && read_memory(pointer + kNumber, &number, sizeof number) && number == thread.id) {
      thread.pointer = pointer;
      thread.stack = {mapping.range.first, pointer};
      return;
    }
  }
}

/// Stacks of threads that have ended are kept for others, with all that they had.
void add_left_stacks(const std::vector<Mapping>& mappings, std::vector<ThreadMemory>& threads) {
  constexpr std::uintptr_t kNearEnd = 16384;
  const std::size_t living = threads.size();
  for (const Mapping& mapping : mappings) {
    const bool may_be = mapping.writable && mapping.file.empty() && mapping.range.second - mapping.range.first > kNearEnd;
    const std::uintptr_t pointer = may_be ? pointer_above(mapping.range.second - kNearEnd, mapping) : 0;
    const bool lives = std::any_of(threads.begin(), threads.begin() + static_cast<std::ptrdiff_t>(living),
                                   [&](const ThreadMemory& thread) { return thread.pointer == pointer; });
    if (pointer != 0 && !lives) {
      ThreadMemory left;
      left.stack = {pointer, pointer};
      threads.push_back(std::move(left));
    }
  }
}

struct Backtrace {
  std::vector<RunningFunction> functions;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* data) {
  auto& all = static_cast<Backtrace*>(data)->functions;
  constexpr std::size_t kMost = 512;
  const auto end_of_callee = static_cast<std::uintptr_t>(_Unwind_GetCFA(context));
  if (!all.empty()) {
    all.back().cfa = end_of_callee;
  }
  int before = 0;
  const auto pc = static_cast<std::uintptr_t>(_Unwind_GetIPInfo(context, &before));
  all.push_back({before != 0 ? pc : pc - 1, end_of_callee, 0});
  return all.size() < kMost ? _URC_NO_REASON : _URC_END_OF_STACK;
}

} // namespace

std::vector<ThreadMemory> threads_of_process(const std::vector<Mapping>& mappings) {
  std::vector<ThreadMemory> threads;
  const auto own = static_cast<int>(::syscall(SYS_gettid));
  std::error_code trouble;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", trouble)) {
    const std::string task = entry.path().string();
    ThreadMemory thread;
    thread.id = std::atoi(entry.path().filename().c_str());
    thread.name = first_line(task + "/comm");
    const bool is_own = thread.id == own;
    const std::uintptr_t pointer =
        is_own ? reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) : stack_pointer(task);
    const Mapping* const stack = pointer != 0 ? find_mapping(mappings, pointer) : nullptr;
    if (stack != nullptr && stack->writable) {
      thread.in_use_known = true;
      const bool is_main = thread.id == ::getpid();
      thread.pointer = is_own ? own_pointer() : is_main ? 0 : pointer_above(pointer, *stack);
      thread.stack = {pointer, is_main || thread.pointer <= pointer ? stack->range.second : thread.pointer};
    } else if (is_own) {
      thread.pointer = own_pointer();
    } else {
      find_stack(mappings, thread);
    }
    threads.insert(is_own ? threads.begin() : threads.end(), std::move(thread));
  }
  add_left_stacks(mappings, threads);
  return threads;
}

std::vector<RunningFunction> running_functions() {
  Backtrace all;
  ::_Unwind_Backtrace(&add_frame, &all);
  if (!all.functions.empty() && all.functions.back().cfa == 0) {
    all.functions.pop_back(); // its end is not known
  }
  return all.functions;
}

CallersFrame caller_of_library() {
  struct Search {
    CallersFrame found;
    void* library = nullptr;
  } search;
  const auto library_of = [](std::uintptr_t address) -> void* {
    Dl_info info{};
    return ::dladdr(reinterpret_cast<void*>(address), &info) != 0 ? info.dli_fbase : nullptr;
  };
  search.library = library_of(reinterpret_cast<std::uintptr_t>(&caller_of_library));
  const auto look = [](_Unwind_Context* context, void* data) {
    auto& all = *static_cast<Search*>(data);
    const auto end_of_callee = static_cast<std::uintptr_t>(_Unwind_GetCFA(context));
    Dl_info info{};
    int before = 0;
    const auto pc = static_cast<std::uintptr_t>(_Unwind_GetIPInfo(context, &before)) - 1;
    if (::dladdr(reinterpret_cast<void*>(pc), &info) != 0 && info.dli_fbase == all.library) {
      return _URC_NO_REASON;
    }
    all.found.begin = end_of_callee;
    for (const int number : {3, 6, 12, 13, 14, 15}) { // rbx, rbp, r12 to r15
      all.found.registers.push_back(static_cast<std::uintptr_t>(_Unwind_GetGR(context, number)));
    }
    return _URC_END_OF_STACK;
  };
  ::_Unwind_Backtrace(look, &search);
  if (search.found.begin == 0) {
    search.found.begin = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }
  return std::move(search.found);
}

std::optional<ThreadLocalPlace> thread_local_place(std::uintptr_t below) {
  struct Search {
    std::uintptr_t address;
    std::optional<ThreadLocalPlace> found;
  } search{own_pointer() - below, std::nullopt};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        const auto begin = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
        for (int i = 0; begin != 0 && i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type == PT_TLS && begin <= wanted.address && wanted.address - begin < part.p_memsz) {
            wanted.found = {info->dlpi_addr + info->dlpi_phdr[0].p_vaddr, wanted.address - begin};
          }
        }
        return wanted.found ? 1 : 0;
      },
      &search);
  return search.found;
}

} // namespace tensorscope::report
