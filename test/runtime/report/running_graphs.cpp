// SPDX-License-Identifier: Apache-2.0
// Reports are made while another thread builds graphs and runs them backward.
#include <tensorscope/tensorscope.h>

#include <atomic>
#include <cstdio>
#include <thread>

static std::atomic<bool> done{false};
static std::atomic<int> rounds{0};

static void work() {
  const auto weight = torch::ones({50}, torch::requires_grad());
  while (!done) {
    auto total = torch::zeros({});
    for (int i = 0; i < 10; ++i) {
      tensorscope::with_torch([&] { total += (weight * torch::randn({50})).exp().sum(); });
    }
    total.backward();
    ++rounds;
  }
}

int main() {
  at::set_num_threads(1);
  std::thread worker(work);
  while (rounds < 1500) {
    tensorscope::check_leaks();
  }
  done = true;
  worker.join();
  std::fputs("both came to their end\n", stderr);
}

// CHECK:     both came to their end
// CHECK-NOT: {{.}}
