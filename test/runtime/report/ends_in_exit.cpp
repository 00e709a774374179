// SPDX-License-Identifier: Apache-2.0
// A function whose last instruction is the call of exit(): the address to which it would return lies past its end.
#include <tensorscope/tensorscope.h>

#include <cstdlib>

[[noreturn]] __attribute__((noinline)) static void leave() {
  tensorscope::with_torch([] { (void)torch::ones({3}).sum().item<float>(); });
  std::exit(0);
}

int main() { leave(); }
