// SPDX-License-Identifier: Apache-2.0
// Children are forked while other threads work: each must come to its end, and report what it made itself.
#include <tensorscope/tensorscope.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

static std::vector<at::Tensor> kept;
static std::atomic<bool> done{false};
static std::atomic<int> at_work{0};

static void make_tensors() {
  tensorscope::with_torch([] {
    auto x = torch::ones({3});
    tensorscope::release(x);
    tensorscope::retain(torch::ones({4}));
  });
}

static void work() {
  make_tensors();
  ++at_work;
  while (!done) {
    make_tensors();
  }
}

static void start_threads_that_work() {
  while (!done) {
    std::thread first(make_tensors);
    std::thread second(make_tensors);
    first.join();
    second.join();
  }
}

int main() {
  at::set_num_threads(1);
  static auto& threads = *new std::vector<std::thread>; // a child returns from main without them
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back(work);
  }
  // What LibTorch sets up at its first use would stay half set up in a child, with or without this library.
  while (at_work < 2) {
    std::this_thread::yield();
  }
  threads.emplace_back(start_threads_that_work);
  int leaked = 0;
  for (int i = 0; i < 10; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60); // many times what it takes
      tensorscope::with_torch([] { kept.push_back(tensorscope::retain(torch::ones({7}))); });
      return 0;
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    const bool reported = WIFEXITED(status) && WEXITSTATUS(status) == 23;
    leaked += reported ? 1 : 0;
    if (!reported) {
      std::printf("child %d: %s %d\n", i, WIFEXITED(status) ? "status" : "signal", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    }
  }
  done = true;
  for (auto& thread : threads) {
    thread.join();
  }
  std::printf("%d\n", leaked);
  return leaked == 10 ? 0 : 1;
}

// CHECK-COUNT-10: LEAK: 28 bytes in 1 tensor that was retained
