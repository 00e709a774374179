// SPDX-License-Identifier: Apache-2.0
// A forked child answers for what it made itself.
#include <tensorscope/tensorscope.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

static std::vector<at::Tensor> kept;

int main() {
  tensorscope::with_torch([] { kept.push_back(tensorscope::retain(torch::ones({5}))); });
  const pid_t child = ::fork();
  if (child == 0) {
    tensorscope::with_torch([] { kept.push_back(tensorscope::retain(torch::ones({7}))); });
    return 0;
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  std::fprintf(stderr, "child: %d\n", WEXITSTATUS(status));
}

// CHECK:      LEAK: 28 bytes in 1 tensor that was retained
// CHECK-NOT:  LEAK
// CHECK:      SUMMARY: tensorscope: 28 bytes leaked
// CHECK:      child: 23
// CHECK:      LEAK: 20 bytes in 1 tensor that was retained
// CHECK-NOT:  LEAK
// CHECK:      SUMMARY: tensorscope: 20 bytes leaked

// STOP-NOT:   28 bytes
// STOP:       child: 0
// STOP:       LEAK: 20 bytes in 1 tensor that was retained
