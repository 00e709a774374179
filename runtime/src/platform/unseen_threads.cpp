// SPDX-License-Identifier: Apache-2.0
// Reads /proc/self/task. Where that is not mounted, a grace time decides alone.
#include "platform/unseen_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <dirent.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

namespace tensorscope::platform {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(30); // a wait must end some time; operators take less
constexpr auto kAsleep = std::chrono::milliseconds(500); // in one system call: longer than an operator waits for its workers
constexpr auto kBetweenLooks = std::chrono::milliseconds(5); // a look reads a file for each thread

struct Range {
  std::uintptr_t begin, end;
};

struct UnseenThread {
  std::int32_t system_id;
  std::string blocked_at; ///< the system call it was last seen in, with its stack; empty while it runs
  Clock::time_point since;
};

struct Unseen {
  std::mutex mutex;
  std::vector<UnseenThread> threads;
  Clock::time_point noted;
  Clock::time_point looked;
  std::vector<Range> torch_code;
};

constinit std::atomic<bool> any_unseen{false};

Unseen& unseen() {
  static auto* const all = new Unseen; // never destroyed: released memory may wait for it at exit
  return *all;
}

int add_torch_code(dl_phdr_info* info, std::size_t, void* ranges) {
  const char* const slash = std::strrchr(info->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (std::strncmp(name, "libtorch", 8) != 0 && std::strncmp(name, "libc10", 6) != 0) {
    return 0;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0) {
      const auto begin = info->dlpi_addr + header.p_vaddr;
      static_cast<std::vector<Range>*>(ranges)->push_back({begin, begin + header.p_memsz});
    }
  }
  return 0;
}

/// Whether the stack from `pointer` upward holds an address of LibTorch's code. Reads through the kernel: the
/// thread may wake, and its stack may end anywhere.
bool stack_mentions(std::uintptr_t pointer, const std::vector<Range>& code) {
  std::vector<std::uintptr_t> words(512); // a page
  constexpr std::size_t kMostBytes = std::size_t{1} << 20; // deeper than LibTorch's own frames reach
  for (std::size_t read = 0; read < kMostBytes; read += words.size() * sizeof(std::uintptr_t)) {
    iovec here{words.data(), words.size() * sizeof(std::uintptr_t)};
    iovec there{reinterpret_cast<void*>(pointer + read), here.iov_len};
    const auto got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got <= 0) {
      return read == 0; // nothing could be read: no proof
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof(std::uintptr_t); ++i) {
      if (std::any_of(code.begin(), code.end(),
                      [&](const Range& range) { return words[i] >= range.begin && words[i] < range.end; })) {
        return true;
      }
    }
    if (static_cast<std::size_t>(got) < here.iov_len) {
      return false;
    }
  }
  return true;
}

/// The thread's system call, arguments, stack and program counter; empty while it runs, "gone" once it ended.
std::string system_call_of(std::int32_t system_id) {
  std::ifstream file("/proc/self/task/" + std::to_string(system_id) + "/syscall");
  std::string line;
  if (!file || !std::getline(file, line)) {
    return ::access(("/proc/self/task/" + std::to_string(system_id)).c_str(), F_OK) == 0 ? "" : "gone";
  }
  return line == "running" ? "" : line;
}

bool may_be_inside(UnseenThread& thread, const std::vector<Range>& code) {
  const auto blocked_at = system_call_of(thread.system_id);
  if (blocked_at == "gone") {
    return false;
  }
  if (blocked_at.empty() || blocked_at != thread.blocked_at) {
    thread.blocked_at = blocked_at;
    thread.since = Clock::now();
  } else if (Clock::now() - thread.since > kAsleep) {
    return false;
  }
  const auto counter = blocked_at.rfind(' ');
  const auto stack = counter == std::string::npos ? counter : blocked_at.rfind(' ', counter - 1);
  if (stack == std::string::npos) {
    return true;
  }
  return stack_mentions(std::strtoull(blocked_at.c_str() + stack, nullptr, 16), code);
}

} // namespace

void note_threads() noexcept {
  auto& all = unseen();
  const std::lock_guard lock(all.mutex);
  all.noted = Clock::now();
  DIR* const tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) {
    return;
  }
  while (const dirent* const entry = ::readdir(tasks)) {
    const auto system_id = static_cast<std::int32_t>(std::strtol(entry->d_name, nullptr, 10));
    if (system_id > 0 && system_id != ::gettid()) {
      all.threads.push_back({system_id, "", all.noted});
    }
  }
  ::closedir(tasks);
  if (!all.threads.empty()) {
    ::dl_iterate_phdr(&add_torch_code, &all.torch_code);
    any_unseen.store(true, std::memory_order_release);
  }
}

void forget_threads() noexcept {
  any_unseen.store(false, std::memory_order_release);
}

bool unseen_threads_remain(bool (*observed)(std::int32_t system_id)) noexcept {
  if (!any_unseen.load(std::memory_order_acquire)) {
    return false;
  }
  auto& all = unseen();
  const std::lock_guard lock(all.mutex);
  const auto now = Clock::now();
  if (now - all.looked < kBetweenLooks) {
    return !all.threads.empty();
  }
  all.looked = now;
  if (now - all.noted > kGrace) {
    all.threads.clear();
  }
  std::erase_if(all.threads, [&](UnseenThread& thread) {
    return observed(thread.system_id) || !may_be_inside(thread, all.torch_code);
  });
  any_unseen.store(!all.threads.empty(), std::memory_order_release);
  return !all.threads.empty();
}

} // namespace tensorscope::platform
