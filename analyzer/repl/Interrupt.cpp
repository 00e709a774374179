// SPDX-License-Identifier: Apache-2.0
//
// Operators ask LibTorch for their observers before they do anything; the
// question comes here first, since the program is searched before libraries.
// Compiled with exceptions.
#include "repl/Interrupt.h"
#include "repl/GuardedCall.h"
#include <atomic>
#include <csignal>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace tensorscope {

static std::atomic<bool> Pending{false};
static pthread_t Reader;
static timer_t Timer;
static bool HasTimer = false;

template <std::size_t Size> static void say(const char (&Line)[Size]) {
  [[maybe_unused]] auto Written = ::write(STDERR_FILENO, Line, Size - 1);
}

static void onInterrupt(int) {
  bool Again = Pending.exchange(true);
  if (!isRunningInput()) {
    // The line editor takes the first read that fails for an accident.
    static constexpr itimerspec Soon = {{0, 0}, {0, 20'000'000}};
    if (!Again && HasTimer)
      ::timer_settime(Timer, 0, &Soon, nullptr);
    return;
  }
  if (Again) {
    say("\ntensorscope repl: ended by ctrl-C\n");
    ::_exit(128 + SIGINT);
  }
  say("\nended at the next operator; ctrl-C again ends the program\n");
}

void handleInterrupts() {
  Reader = ::pthread_self();
  struct sigevent Event = {};
  Event.sigev_notify = SIGEV_SIGNAL;
  Event.sigev_signo = SIGINT;
  HasTimer = ::timer_create(CLOCK_MONOTONIC, &Event, &Timer) == 0;
  struct sigaction Action = {};
  Action.sa_handler = &onInterrupt; // no SA_RESTART: reading a line must end
  ::sigaction(SIGINT, &Action, nullptr);
}

bool takeInterrupt() { return Pending.exchange(false); }

} // namespace tensorscope

using namespace tensorscope;

/// at::getStepCallbacksUnlessEmpty(at::RecordScope), whose result the caller
/// has the room for; defined by its symbol, so that no header of LibTorch is
/// needed here.
__attribute__((visibility("default"), used)) void *
stepCallbacks(void *Result, unsigned char Scope) __asm__(
    "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE");

void *stepCallbacks(void *Result, unsigned char Scope) {
  if (Pending.load(std::memory_order_relaxed) && isRunningInput() &&
      ::pthread_equal(::pthread_self(), Reader) && takeInterrupt())
    throw Interrupted();
  using Function = void *(*)(void *, unsigned char);
  static const auto Original = reinterpret_cast<Function>(::dlsym(
      RTLD_NEXT, "_ZN2at27getStepCallbacksUnlessEmptyENS_11RecordScopeE"));
  return Original(Result, Scope);
}
