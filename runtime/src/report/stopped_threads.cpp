// SPDX-License-Identifier: Apache-2.0
// ptrace(2): a thread that is seized and interrupted stops with no signal of its own, and goes on as if nothing had been.
// The tracer uses nothing but system calls and memory that was mapped for it: the C library's locks may be held by threads
// that it has stopped.
#include "report/stopped_threads.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>

namespace tensorscope::report {
namespace {

constexpr std::size_t kMostThreads = 1024;
constexpr std::size_t kStack = std::size_t{256} << 10;
constexpr ::timespec kPatience{2, 0};

enum State : std::uint32_t { kPrepared, kStops, kStopped, kFailed, kEnds };

struct Stopped {
  int id = 0;
  int signal = 0; ///< that it was about to get
};

/// A system call. The C library's would write to `errno`, which the tracer shares with the thread that made it.
long call(long number, std::uintptr_t a = 0, std::uintptr_t b = 0, std::uintptr_t c = 0, std::uintptr_t d = 0) noexcept {
#if defined(__x86_64__)
  long result = 0;
  register std::uintptr_t fourth __asm__("r10") = d;
  register std::uintptr_t fifth __asm__("r8") = 0;
  register std::uintptr_t sixth __asm__("r9") = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
#else
  return -ENOSYS;
#endif
}

std::uintptr_t address_of(const void* object) noexcept { return reinterpret_cast<std::uintptr_t>(object); }

long trace(long request, int id, std::uintptr_t data = 0) noexcept {
  return call(SYS_ptrace, static_cast<std::uintptr_t>(request), static_cast<std::uintptr_t>(id), 0, data);
}

/// One entry of a folder, as the kernel writes it.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

int number_of(const char* text) noexcept {
  int number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + (*text - '0');
  }
  return *text == '\0' ? number : 0;
}

} // namespace

struct StoppedThreads::Shared {
  std::atomic<std::uint32_t> state{kPrepared};
  int caller = 0;
  std::uint64_t signals = 0; ///< that the calling thread had blocked before
  std::size_t count = 0;
  std::array<char, 64> tasks{}; ///< the folder of the process's threads
  std::array<Stopped, kMostThreads> stopped;
  std::array<ThreadRegisters, kMostThreads> registers;
  alignas(8) std::array<char, 8192> entries;
  alignas(16) std::array<char, kStack> stack;

  void set(State next) noexcept {
    state.store(next, std::memory_order_release);
    call(SYS_futex, address_of(&state), FUTEX_WAKE, 1);
  }
  /// Returns false where that takes too long.
  bool wait_while(State value, const ::timespec* patience) noexcept {
    while (state.load(std::memory_order_acquire) == value) {
      if (call(SYS_futex, address_of(&state), FUTEX_WAIT, value, address_of(patience)) == -ETIMEDOUT) {
        return false;
      }
    }
    return true;
  }

  bool knows(int id) const noexcept {
    return std::any_of(stopped.begin(), stopped.begin() + static_cast<std::ptrdiff_t>(count),
                       [id](const Stopped& one) { return one.id == id; });
  }
  int run_tracer() noexcept;
  bool stop_all() noexcept;
  bool stop_new_ones(int folder, bool& any) noexcept;
  bool stop_one(int id) noexcept;
  bool read_registers(int id, ThreadRegisters& into) noexcept;
};

#if defined(__x86_64__)
bool StoppedThreads::Shared::read_registers(int id, ThreadRegisters& into) noexcept {
  ::user_regs_struct general;
  ::user_fpregs_struct vectors;
  if (trace(PTRACE_GETREGS, id, address_of(&general)) != 0 || trace(PTRACE_GETFPREGS, id, address_of(&vectors)) != 0) {
    return false;
  }
  into.id = id;
  into.stack_pointer = general.rsp;
  into.pointer = general.fs_base;
  static_assert(sizeof general + sizeof vectors.xmm_space <= sizeof into.words);
  std::memcpy(into.words.data(), &general, sizeof general);
  std::memcpy(reinterpret_cast<char*>(into.words.data()) + sizeof general, vectors.xmm_space, sizeof vectors.xmm_space);
  return true;
}
#else
bool StoppedThreads::Shared::read_registers(int, ThreadRegisters&) noexcept { return false; }
#endif

/// Returns false where nothing is left to try. One that is about to end refuses like one that may not be traced.
bool StoppedThreads::Shared::stop_one(int id) noexcept {
  if (const long seized = trace(PTRACE_SEIZE, id); seized != 0) {
    return seized == -ESRCH || seized == -EPERM;
  }
  int status = 0;
  if (trace(PTRACE_INTERRUPT, id) != 0 ||
      call(SYS_wait4, static_cast<std::uintptr_t>(id), address_of(&status), __WALL) != id || !WIFSTOPPED(status)) {
    return true;
  }
  // Where a signal came first, the thread gets it when it goes on.
  const bool by_signal = (status >> 16) == 0;
  stopped[count] = {id, by_signal ? WSTOPSIG(status) : 0};
  return read_registers(id, registers[count++]);
}

bool StoppedThreads::Shared::stop_new_ones(int folder, bool& any) noexcept {
  call(SYS_lseek, static_cast<std::uintptr_t>(folder), 0, SEEK_SET);
  for (;;) {
    const long got = call(SYS_getdents64, static_cast<std::uintptr_t>(folder), address_of(entries.data()), entries.size());
    if (got <= 0) {
      return got == 0;
    }
    for (long at = 0; at < got;) {
      const auto* const entry = reinterpret_cast<const Entry*>(entries.data() + at);
      at += entry->length;
      const int id = number_of(static_cast<const char*>(entry->name));
      if (id == 0 || id == caller || knows(id)) {
        continue;
      }
      any = true;
      if (count == kMostThreads || !stop_one(id)) {
        return false;
      }
    }
  }
}

/// Those that run may start others, until none does; those that end are there for a while.
bool StoppedThreads::Shared::stop_all() noexcept {
  constexpr int kMostRounds = 1000;
  constexpr ::timespec kPause{0, 100'000};
  const long folder = call(SYS_open, address_of(tasks.data()), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int round = 0; folder >= 0 && round < kMostRounds; ++round) {
    bool any = false;
    if (!stop_new_ones(static_cast<int>(folder), any)) {
      return false;
    }
    if (!any) {
      return true;
    }
    if (round > 0) {
      call(SYS_nanosleep, address_of(&kPause));
    }
  }
  return false;
}

int StoppedThreads::Shared::run_tracer() noexcept {
  call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL); // a tracer that dies lets its threads go
  wait_while(kPrepared, nullptr);
  if (stop_all()) {
    set(kStopped);
    wait_while(kStopped, nullptr);
  } else {
    set(kFailed);
  }
  for (std::size_t i = 0; i < count; ++i) {
    trace(PTRACE_DETACH, stopped[i].id, static_cast<std::uintptr_t>(stopped[i].signal));
  }
  call(SYS_exit, 0);
  return 0;
}

StoppedThreads::StoppedThreads() : memory_(sizeof(Shared)) {
  if (memory_.data() != nullptr) {
    shared_ = new (memory_.data()) Shared;
  }
}

StoppedThreads::~StoppedThreads() { go_on(); }

bool StoppedThreads::stop() noexcept {
  if (shared_ == nullptr || tracer_ != 0) {
    return false;
  }
  Shared& shared = *shared_;
  shared.state.store(kPrepared);
  shared.caller = static_cast<int>(call(SYS_gettid));
  shared.count = 0;
  std::snprintf(shared.tasks.data(), shared.tasks.size(), "/proc/%d/task", ::getpid());
  // No handler may run on this thread meanwhile: it could wait for another.
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  call(SYS_rt_sigprocmask, SIG_SETMASK, address_of(&kAll), address_of(&shared.signals), sizeof kAll);
  const auto run = [](void* data) { return static_cast<Shared*>(data)->run_tracer(); };
  // Without a signal at its end, which the program would see.
  tracer_ = ::clone(run, shared.stack.data() + shared.stack.size(), CLONE_VM | CLONE_FS | CLONE_UNTRACED, &shared);
  if (tracer_ <= 0) {
    tracer_ = 0;
    call(SYS_rt_sigprocmask, SIG_SETMASK, address_of(&shared.signals), 0, sizeof kAll);
    return false;
  }
  call(SYS_prctl, PR_SET_PTRACER, static_cast<std::uintptr_t>(tracer_)); // where only a parent may trace
  shared.set(kStops);
  if (shared.wait_while(kStops, &kPatience) && shared.state.load() == kStopped) {
    return true;
  }
  go_on();
  return false;
}

void StoppedThreads::go_on() noexcept {
  if (tracer_ == 0) {
    return;
  }
  Shared& shared = *shared_;
  if (shared.state.load() == kStops) {
    call(SYS_kill, static_cast<std::uintptr_t>(tracer_), SIGKILL); // it waits for a thread that does not stop
  } else {
    shared.set(kEnds);
  }
  while (call(SYS_wait4, static_cast<std::uintptr_t>(tracer_), 0, __WALL) == -EINTR) {
  }
  tracer_ = 0;
  call(SYS_prctl, PR_SET_PTRACER, 0);
  call(SYS_rt_sigprocmask, SIG_SETMASK, address_of(&shared.signals), 0, sizeof shared.signals);
}

std::span<const ThreadRegisters> StoppedThreads::threads() const noexcept {
  return {shared_->registers.data(), shared_->count};
}

} // namespace tensorscope::report
