// SPDX-License-Identifier: Apache-2.0
// A session that nobody stops.
#include <tensorscope/tensorscope.h>

#include <cstdlib>

static at::Tensor held;

int main(int argc, char**) {
  tensorscope::start_session();
  held = torch::ones({10, 10});
  const auto gone_with_main = held + 1;
  if (argc > 1) {
    std::exit(0);
  }
}

// CHECK:      OPEN SESSION: started at {{.*}}session.cpp:[[#@LINE-8]] on thread 0 and never stopped; it owns 400 bytes in 1 tensor
// CHECK-NEXT: 400 bytes in 1 tensor of aten::ones Float [10, 10] on cpu
// CHECK-NEXT: main {{.*}}session.cpp:[[#@LINE-9]]:
// CHECK-NEXT: call stop_session()
// CHECK:      SUMMARY: tensorscope: 0 bytes leaked in 0 tensors; 1 session left open;

// EXIT:       OPEN SESSION: started at {{.*}}; it owns 800 bytes in 2 tensors
