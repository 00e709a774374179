// SPDX-License-Identifier: Apache-2.0
// What threads leave behind: one that has ended, and one that sits in an open scope while the program exits.
#include <tensorscope/tensorscope.h>

#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

static std::vector<at::Tensor> kept(2);
static std::atomic<bool> made{false};

int main() {
  std::thread([] {
    tensorscope::with_torch([] { kept[0] = tensorscope::retain(torch::ones({9})); });
    tensorscope::start_session();
  }).join();
  std::thread([] {
    tensorscope::with_torch([] { kept[1] = tensorscope::retain(torch::ones({2, 9})); });
    tensorscope::with_torch([] {
      const auto owned_while_main_returns = torch::ones({100});
      made = true;
      ::pause();
    });
  }).detach();
  while (!made) {
    std::this_thread::yield();
  }
}

// CHECK:      OPEN SESSION: started at {{.*}}threads.cpp:[[#@LINE-15]] on thread {{[0-9]+}} and never stopped; it owns 0 bytes
// CHECK:      LEAK: 72 bytes in 1 tensor that was retained
// CHECK-NEXT: made by aten::ones Float [2, 9] on cpu in the scope at {{.*}}threads.cpp:[[#@LINE-14]]
// CHECK:      LEAK: 36 bytes in 1 tensor that was retained
// CHECK-NEXT: made by aten::ones Float [9] on cpu in the scope at {{.*}}threads.cpp:[[#@LINE-20]]
// CHECK:      SUMMARY: tensorscope: 108 bytes leaked in 2 tensors; 1 session left open;
