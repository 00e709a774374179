// SPDX-License-Identifier: Apache-2.0
// A program that knows nothing of the library. It gives a raw handle up, and then ends as its argument says. The host
// (plugin_host.cpp) loads it as a plugin.
#include <ATen/ATen.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

static void lose(int count) {
  for (int i = 0; i < count; ++i) {
    auto product = at::ones({3, 7}) * i;
    product.unsafeReleaseTensorImpl();
  }
}

/// The place of the raw handle is used again, so that no stale copy of it is left.
static void work() {
  volatile char used[4096];
  for (std::size_t i = 0; i < sizeof used; ++i) {
    used[i] = 0;
  }
}

extern "C" __attribute__((visibility("default"))) int run_leaking(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  at::zeros({2}).add_(1); // the first operator is no matter of interest
  lose(5);
  work();
  if (way == "fail") {
    return 3;
  }
  if (way == "_exit") {
    ::_exit(5);
  }
  if (way == "abort") {
    std::abort();
  }
  if (way == "wait") {
    ::write(STDOUT_FILENO, "waiting\n", 8);
    ::pause();
  }
  if (way == "system") {
    return std::system(argv[2]) == 0 ? 0 : 9;
  }
  if (way == "fork") {
    const pid_t child = ::fork();
    if (child != 0) {
      int status = 0;
      ::waitpid(child, &status, 0);
      ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 9);
    }
    lose(2);
    work();
  }
  return 0;
}

int main(int argc, char** argv) { return run_leaking(argc, argv); }

// CHECK:      LEAK: 420 bytes in 5 tensors that no handle leads to any more
// CHECK-NEXT: made by aten::mul Float [3, 7] on cpu
// CHECK-NEXT: #0 lose{{.*}} {{.*}}leaking.cpp:[[#@LINE-51]]:
// CHECK-NEXT: #1 run_leaking {{.*}}leaking.cpp:
// CHECK:      give a raw handle back
// CHECK:      SUMMARY: tensorscope: 420 bytes leaked in 5 tensors; {{.*}} attributed
// CHECK-NOT:  {{.}}

// JSON:       "version": 1
// JSON:       "kind": "lost"
// JSON-NEXT:  "bytes": 420

// The host's LibTorch comes late, and is for the plugin alone.
// HOST:       tensorscope run: {{.*}}plugin_host loads no LibTorch at its start
// HOST-NEXT:  LEAK: 420 bytes in 5 tensors that no handle leads to any more
// HOST-NEXT:  made by aten::mul Float [3, 7] on cpu
// HOST-NEXT:  #0 lose{{.*}} {{.*}}leaking.cpp:[[#@LINE-65]]:
// HOST-NEXT:  #1 run_leaking {{.*}}leaking.cpp:

// SCRIPT:     tensorscope run: {{.*}}sh loads no LibTorch at its start
// SCRIPT-NEXT: LEAK: 420 bytes in 5 tensors that no handle leads to any more

// FORK:       LEAK: 168 bytes in 2 tensors that no handle leads to any more
// FORK:       SUMMARY: tensorscope: 168 bytes leaked in 2 tensors; {{.*}} attributed
// FORK-NOT:   {{.}}
