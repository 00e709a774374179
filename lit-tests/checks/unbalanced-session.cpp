// SPDX-License-Identifier: Apache-2.0
// Sessions that are left open on some path, that a second start ends, or that another thread is to stop.
// RUN: %check_tidy %s tensorscope-unbalanced-session %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

void experiment();
bool isReady();
void report(const std::exception &error);
struct Options {
  bool profiles() const;
};

//===- Left open -----------------------------------------------------------===//

void leftByAReturn(bool fail) {
  tensorscope::start_session();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the session that starts here is left open on some path; use a 'tensorscope::Session', which ends with its block on every path [tensorscope-unbalanced-session]
  experiment();
  if (fail)
    return;
  // CHECK-NOTES: :[[@LINE-1]]:5: note: left open here
  tensorscope::stop_session();
}
int leftWithAResult(int n) {
  tensorscope::start_session();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the session that starts here is left open on some path; {{.*}} [tensorscope-unbalanced-session]
  for (int i = 0; i < n; ++i)
    if (isReady())
      return i;
  // CHECK-NOTES: :[[@LINE-1]]:7: note: left open here
  tensorscope::stop_session();
  return n;
}
void stoppedOnOnePathOnly(bool keep) {
  tensorscope::start_session();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the session that starts here is left open on some path; {{.*}} [tensorscope-unbalanced-session]
  experiment();
  if (!keep)
    tensorscope::stop_session();
}
// CHECK-NOTES: :[[@LINE-1]]:1: note: left open here
void leftByAThrow(bool fail) {
  tensorscope::start_session();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the session that starts here is left open when an exception is thrown; use a 'tensorscope::Session', which ends with its block on every path [tensorscope-unbalanced-session]
  experiment();
  if (fail)
    throw std::runtime_error("failed");
  // CHECK-NOTES: :[[@LINE-1]]:5: note: thrown here
  tensorscope::stop_session();
}
void leftByAHandler() {
  tensorscope::start_session();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the session that starts here is left open on some path; {{.*}} [tensorscope-unbalanced-session]
  try {
    experiment();
  } catch (const std::exception &error) {
    report(error);
    return;
    // CHECK-NOTES: :[[@LINE-1]]:5: note: left open here
  }
  tensorscope::stop_session();
}
void thrownOn() {
  tensorscope::start_session();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the session that starts here is left open when an exception is thrown; {{.*}} [tensorscope-unbalanced-session]
  try {
    experiment();
  } catch (const std::exception &error) {
    report(error);
    throw;
    // CHECK-NOTES: :[[@LINE-1]]:5: note: thrown here
  }
  tensorscope::stop_session();
}
// The handler goes on behind the stop.
void stoppedInTheTryBlock() {
  try {
    tensorscope::start_session();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: the session that starts here is left open on some path; {{.*}} [tensorscope-unbalanced-session]
    experiment();
    tensorscope::stop_session();
  } catch (const std::exception &error) {
    report(error);
  }
}
// CHECK-NOTES: :[[@LINE-1]]:1: note: left open here
static void beginRun() { tensorscope::start_session(); }
static void endRun() { tensorscope::stop_session(); }
void leftThroughCallees(bool fail) {
  beginRun();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the session that starts here, in 'beginRun', is left open on some path; {{.*}} [tensorscope-unbalanced-session]
  experiment();
  if (fail)
    return;
  // CHECK-NOTES: :[[@LINE-1]]:5: note: left open here
  endRun();
}

//===- A second start ------------------------------------------------------===//

void startedTwice() {
  tensorscope::start_session();
  experiment();
  tensorscope::start_session();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: a session that is still open is ended by the start of this one: what it owns is released; stop it first, or leave this one out [tensorscope-unbalanced-session]
  // CHECK-NOTES: :[[@LINE-4]]:3: note: the session that is still open starts here
  experiment();
  tensorscope::stop_session();
}
void startedAgainInALoop(int n) {
  for (int i = 0; i < n; ++i) {
    tensorscope::start_session();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a session that is still open is ended {{.*}} [tensorscope-unbalanced-session]
    // CHECK-NOTES: :[[@LINE-2]]:5: note: the session that is still open starts here
    experiment();
  }
  tensorscope::stop_session();
}
void startedAgainAfterAContinue(int n) {
  for (int i = 0; i < n; ++i) {
    tensorscope::start_session();
    // CHECK-NOTES: :[[@LINE-1]]:5: warning: a session that is still open is ended {{.*}} [tensorscope-unbalanced-session]
    // CHECK-NOTES: :[[@LINE-2]]:5: note: the session that is still open starts here
    experiment();
    if (isReady())
      continue;
    tensorscope::stop_session();
  }
}

//===- Another thread ------------------------------------------------------===//

void stoppedOnAThread() {
  tensorscope::start_session();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the session that starts here is to be stopped by another thread, which has sessions of its own: it stays open here; use a 'tensorscope::Session', which ends with its block on every path [tensorscope-unbalanced-session]
  std::thread worker([] {
    experiment();
    tensorscope::stop_session();
    // CHECK-NOTES: :[[@LINE-1]]:5: note: stopped here, on another thread
  });
  worker.join();
}
void stoppedInAFuture() {
  tensorscope::start_session();
  // CHECK-NOTES: :[[@LINE-1]]:3: warning: the session that starts here is to be stopped by another thread, {{.*}} [tensorscope-unbalanced-session]
  auto done = std::async(std::launch::async, [] { tensorscope::stop_session(); });
  // CHECK-NOTES: :[[@LINE-1]]:51: note: stopped here, on another thread
  done.get();
}

//===- Balanced ------------------------------------------------------------===//

void plain() {
  tensorscope::start_session();
  experiment();
  tensorscope::stop_session();
}
void stoppedOnEveryPath(bool fail) {
  tensorscope::start_session();
  if (fail) {
    tensorscope::stop_session();
    return;
  }
  experiment();
  tensorscope::stop_session();
}
void stoppedByTheHandler() {
  tensorscope::start_session();
  try {
    experiment();
  } catch (...) {
    tensorscope::stop_session();
    throw;
  }
  tensorscope::stop_session();
}
void handledThenStopped() {
  tensorscope::start_session();
  try {
    experiment();
  } catch (const std::exception &error) {
    report(error);
  }
  tensorscope::stop_session();
}
void thrownBeforeTheStart(bool fail) {
  if (fail)
    throw std::runtime_error("failed");
  tensorscope::start_session();
  experiment();
  tensorscope::stop_session();
}
void thrownAfterTheStop(bool fail) {
  tensorscope::start_session();
  experiment();
  tensorscope::stop_session();
  if (fail)
    throw std::runtime_error("failed");
}
void caughtHere(bool fail) {
  tensorscope::start_session();
  try {
    if (fail)
      throw std::runtime_error("failed");
    experiment();
  } catch (const std::runtime_error &error) {
    report(error);
  }
  tensorscope::stop_session();
}
void oneForEach(int n) {
  for (int i = 0; i < n; ++i) {
    tensorscope::start_session();
    experiment();
    tensorscope::stop_session();
  }
}
void restarted() {
  tensorscope::start_session();
  experiment();
  tensorscope::stop_session();
  tensorscope::start_session();
  experiment();
  tensorscope::stop_session();
}
void sometimes(bool profiles) {
  if (profiles)
    tensorscope::start_session();
  experiment();
  if (profiles)
    tensorscope::stop_session();
}
void sometimesByACall(const Options &options) {
  if (options.profiles())
    tensorscope::start_session();
  experiment();
  if (options.profiles())
    tensorscope::stop_session();
}
void sometimesInALoop(const Options &options, int n) {
  for (int i = 0; i < n; ++i) {
    if (options.profiles())
      tensorscope::start_session();
    experiment();
    if (options.profiles())
      tensorscope::stop_session();
  }
}
void byAFlag(int n) {
  bool isOpen = false;
  for (int i = 0; i < n; ++i) {
    if (!isOpen && isReady()) {
      tensorscope::start_session();
      isOpen = true;
    }
    experiment();
  }
  if (isOpen)
    tensorscope::stop_session();
}
void byAFlagAndAHandler(bool profiles) {
  bool isOpen = false;
  try {
    if (profiles) {
      tensorscope::start_session();
      isOpen = true;
    }
    experiment();
  } catch (...) {
    if (isOpen)
      tensorscope::stop_session();
    throw;
  }
  if (isOpen)
    tensorscope::stop_session();
}
void endsTheProgram(bool fail) {
  tensorscope::start_session();
  if (fail)
    std::exit(1);
  experiment();
  tensorscope::stop_session();
}
int ofACase(int mode) {
  tensorscope::start_session();
  int result = 0;
  switch (mode) {
  case 0:
    experiment();
    break;
  case 1:
    tensorscope::stop_session();
    return 1;
  default:
    result = 2;
  }
  tensorscope::stop_session();
  return result;
}

//===- Whose end is elsewhere ----------------------------------------------===//

void begins() { tensorscope::start_session(); }
void ends() { tensorscope::stop_session(); }
void inBetween() {
  begins();
  experiment();
  ends();
}
void beginsInTheCallee(bool fail) {
  begins();
  if (!fail)
    experiment();
  tensorscope::stop_session();
}
void toggles(bool &isOpen) {
  if (isOpen)
    tensorscope::stop_session();
  else
    tensorscope::start_session();
  isOpen = !isOpen;
}
struct Notebook {
  bool isOpen = false;
  void open() {
    if (isOpen)
      return;
    tensorscope::start_session();
    isOpen = true;
  }
  void close() {
    if (isOpen)
      tensorscope::stop_session();
    isOpen = false;
  }
  void run() {
    if (!isOpen)
      tensorscope::start_session();
    isOpen = true;
    experiment();
    if (isOpen)
      tensorscope::stop_session();
    isOpen = false;
  }
};
void useOfANotebook(Notebook &notebook, bool fail) {
  notebook.open();
  experiment();
  if (fail)
    return;
  notebook.close();
}
void rotates() {
  tensorscope::stop_session();
  tensorscope::start_session();
}

//===- Objects -------------------------------------------------------------===//

void ours(bool fail) {
  tensorscope::Session session;
  experiment();
  if (fail)
    throw std::runtime_error("failed");
}
struct Guard {
  Guard() { tensorscope::start_session(); }
  ~Guard() { tensorscope::stop_session(); }
};
void theUsers(bool fail) {
  Guard guard;
  experiment();
  if (fail)
    return;
  experiment();
}
void theUsersThrows(bool fail) {
  Guard guard;
  if (fail)
    throw std::runtime_error("failed");
  experiment();
}
void theUsersInALoop(int n) {
  for (int i = 0; i < n; ++i) {
    Guard guard;
    if (isReady())
      continue;
    experiment();
  }
}
struct Stopper {
  ~Stopper() { tensorscope::stop_session(); }
};
void stoppedByAnObject(bool fail) {
  tensorscope::start_session();
  Stopper stopper;
  if (fail)
    throw std::runtime_error("failed");
  experiment();
}
struct StopperWithAFlag {
  bool isArmed = true;
  ~StopperWithAFlag() {
    if (isArmed)
      tensorscope::stop_session();
  }
};
void stoppedByAnArmedObject(bool fail) {
  tensorscope::start_session();
  StopperWithAFlag stopper;
  if (fail)
    return;
  stopper.isArmed = false;
  tensorscope::stop_session();
}
template <class F> struct Finally {
  F run;
  ~Finally() { run(); }
};
void stoppedByAClosure(bool fail) {
  tensorscope::start_session();
  Finally finally{[] { tensorscope::stop_session(); }};
  if (fail)
    return;
  experiment();
}
void stoppedByAFunctionObject(bool fail) {
  tensorscope::start_session();
  std::function<void()> stop = [] { tensorscope::stop_session(); };
  if (fail) {
    stop();
    return;
  }
  tensorscope::stop_session();
}
void onExit(std::vector<std::function<void()>> &cleanups, bool fail) {
  tensorscope::start_session();
  cleanups.push_back([] { tensorscope::stop_session(); });
  if (fail)
    return;
  tensorscope::stop_session();
}
void heldByAPointer(bool fail) {
  auto guard = std::make_unique<Guard>();
  if (fail)
    return;
  guard.reset();
}

//===- Threads with sessions of their own ----------------------------------===//

void workersOfTheirOwn() {
  tensorscope::start_session();
  std::thread worker([] {
    tensorscope::start_session();
    experiment();
    tensorscope::stop_session();
  });
  worker.join();
  tensorscope::stop_session();
}
void workerWithoutOne() {
  tensorscope::start_session();
  std::thread worker([] { experiment(); });
  worker.join();
  tensorscope::stop_session();
}
template <class F> void inASession(F body) {
  tensorscope::start_session();
  body();
  tensorscope::stop_session();
}
void useOfAWrapper(const torch::Tensor &x) {
  inASession([&] { return x * 2; });
}
