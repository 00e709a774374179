// SPDX-License-Identifier: Apache-2.0
// Raw handles given up, beside tensors that are held by statics and by main until it returns.
#include <tensorscope/tensorscope.h>

static at::Tensor table;

__attribute__((noinline)) static void send(int rows) {
  at::Tensor message = torch::ones({rows, 11});
  const void* const handle = message.unsafeReleaseTensorImpl();
  asm volatile("" : : "r"(handle));
}

int main() {
  for (int rows = 1; rows <= 4; ++rows) {
    send(rows);
  }
  table = torch::ones({6});
  const auto in_main = torch::ones({5});
}

// CHECK:      LEAK: 440 bytes in 4 tensors that no handle leads to any more
// CHECK-NEXT: made by aten::ones Float [1, 11] on cpu
// CHECK-NEXT: #0 send{{.*}} {{.*}}lost.cpp:[[#@LINE-15]]:
// CHECK-NEXT: #1 main {{.*}}lost.cpp:[[#@LINE-9]]:
// CHECK:      SUMMARY: tensorscope: 440 bytes leaked in 4 tensors; 100.0 % of 464 bytes live attributed
// CHECK-NOT:  {{.}}
