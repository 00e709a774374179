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

static void work() {
  while (!done) {
    tensorscope::with_torch([] {
      auto x = torch::ones({3});
      tensorscope::release(x);
      tensorscope::retain(torch::ones({4}));
    });
  }
}

int main() {
  at::set_num_threads(1);
  static auto& threads = *new std::vector<std::thread>; // a child returns from main without them
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back(work);
  }
  int leaked = 0;
  for (int i = 0; i < 10; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      tensorscope::with_torch([] { kept.push_back(tensorscope::retain(torch::ones({7}))); });
      return 0;
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    leaked += WIFEXITED(status) && WEXITSTATUS(status) == 23 ? 1 : 0;
  }
  done = true;
  for (auto& thread : threads) {
    thread.join();
  }
  std::printf("%d\n", leaked);
  return leaked == 10 ? 0 : 1;
}

// CHECK-COUNT-10: LEAK: 28 bytes in 1 tensor that was retained
