// SPDX-License-Identifier: Apache-2.0
// Under on_escape=report an escape is named where its scope ends, with the place of its making.
#include <tensorscope/tensorscope.h>

int main() {
  at::Tensor outside;
  for (int i = 0; i < 3; ++i) {
    tensorscope::with_torch([&] {
      outside = torch::ones({4});
    });
  }
}

// CHECK:      tensorscope: 1 tensor(s) escaped the scope opened at {{.*}}left_alive.cpp:[[#@LINE-6]], the first made by aten::ones (Float [4] on cpu): return them from it or retain them
// CHECK-NEXT: created here:
// CHECK-NEXT: {{.*}}operator(){{.*}} {{.*}}left_alive.cpp:[[#@LINE-7]]:
// CHECK-NEXT: main {{.*}}left_alive.cpp:[[#@LINE-9]]:{{[0-9]+$}}
// CHECK-NOT:  {{.}}
