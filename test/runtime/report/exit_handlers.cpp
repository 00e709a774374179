// SPDX-License-Identifier: Apache-2.0
// The status says that something leaked, and all that the program has registered for its end still runs.
#include <tensorscope/tensorscope.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

static std::vector<at::Tensor> kept;

/// Registered before any library is initialised, as leak checkers and profilers do: runs last of all.
static void register_first(int, char**, char**) {
  ::on_exit([](int status, void*) { std::fprintf(stderr, "the first handler ran with %d\n", status); }, nullptr);
}
__attribute__((section(".preinit_array"), used)) static void (*const before_all)(int, char**, char**) = &register_first;

__attribute__((destructor)) static void destroy() {
  std::fputs("a destructor ran\n", stderr);
}

int main() {
  std::atexit([] { std::fputs("a handler ran\n", stderr); });
  tensorscope::with_torch([] { kept.push_back(tensorscope::retain(torch::ones({6}))); });
}

// CHECK:      LEAK: 24 bytes in 1 tensor that was retained
// CHECK:      SUMMARY: tensorscope: 24 bytes leaked
// CHECK-NEXT: a handler ran
// CHECK-NEXT: a destructor ran
// CHECK-NEXT: the first handler ran with 23
