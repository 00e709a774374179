// SPDX-License-Identifier: Apache-2.0
// A program over such a LibTorch.
#include <cstdio>

extern "C" int other_torch();

int main() {
  std::puts("main runs");
  return other_torch();
}

// VERSION:     tensorscope run: error: {{.*}}: its LibTorch is 1.13.2 ({{.*}}libtorch_cpu.so), and tensorscope was built with {{[0-9.]+}}; build tensorscope with that one (TENSORSCOPE_TORCH_DIR)
// VERSION-NOT: {{.}}

// SYMBOLS:     tensorscope run: error: {{.*}}: its LibTorch ({{.*}}libtorch_cpu.so) does not fit tensorscope, which was built with {{[0-9.]+}} ({{.*}}undefined symbol: {{.*}}); build tensorscope with that one (TENSORSCOPE_TORCH_DIR)
// SYMBOLS-NOT: {{.}}

// SCRIPT:      tensorscope run: {{.*}}sh loads no LibTorch at its start
// SCRIPT-NEXT: tensorscope run: not watched: {{.*}}: its LibTorch is 1.13.2 {{.*}} (TENSORSCOPE_TORCH_DIR)
// SCRIPT-NOT:  {{.}}
