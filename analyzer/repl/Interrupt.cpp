// SPDX-License-Identifier: Apache-2.0
//
// A running input is ended at its next operator. Compiled with exceptions.
#include "repl/Interrupt.h"
#include "repl/GuardedCall.h"
#include <atomic>
#include <csignal>
#include <ctime>
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

static void onInterrupt(int, siginfo_t *Info, void *) {
  if (Info->si_code == SI_TIMER)
    return; // ends the read, and is no wish of the user's
  bool Again = Pending.exchange(true);
  if (!isRunningInput()) {
    // The line editor takes the first read that fails for an accident, and may
    // not be back in the next one yet.
    static constexpr itimerspec Soon = {{0, 20'000'000}, {0, 20'000'000}};
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
  Action.sa_sigaction = &onInterrupt;
  Action.sa_flags = SA_SIGINFO; // no SA_RESTART: reading a line must end
  ::sigaction(SIGINT, &Action, nullptr);
}

bool takeInterrupt() {
  static constexpr itimerspec Never = {{0, 0}, {0, 0}};
  bool Taken = Pending.exchange(false);
  if (Taken && HasTimer)
    ::timer_settime(Timer, 0, &Never, nullptr);
  return Taken;
}

} // namespace tensorscope

using namespace tensorscope;

/// Called by the runtime's interposers.
extern "C" void tensorscope_before_operator() {
  if (Pending.load(std::memory_order_relaxed) && isRunningInput() &&
      ::pthread_equal(::pthread_self(), Reader) && takeInterrupt())
    throw Interrupted();
}
