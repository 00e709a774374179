// SPDX-License-Identifier: Apache-2.0
// What check_leaks says of lost tensors while functions run whose variables are handles. The report at exit
// says the same once more.
#include <tensorscope/tensorscope.h>

#include <iostream>
#include <memory>

/// Not where the address may still be in a register afterwards.
__attribute__((noinline)) static std::int64_t lose(int size) {
  const auto* const lost = new at::Tensor(torch::zeros({size}));
  return lost->numel();
}

__attribute__((noinline)) static std::string kept_and_lost(int size) {
  const at::Tensor kept = torch::ones({size});
  const auto on_heap = std::make_unique<std::vector<at::Tensor>>(2, torch::ones({size + 1}));
  const std::int64_t lost = lose(size + 2);
  std::string text = tensorscope::check_leaks().text();
  return kept.numel() + (*on_heap)[0].numel() + lost > 0 ? text : "";
}

int main() {
  const at::Tensor mine = torch::ones({8});
  std::cerr << kept_and_lost(9) << "---\n";
  return mine.numel() == 8 ? 0 : 1;
}

// CHECK:     LEAK: 44 bytes in 1 tensor that no handle leads to any more
// CHECK-NEXT: made by aten::zeros Float [11] on cpu
// CHECK-NEXT: #0 lose{{.*}} {{.*}}unreachable_now.cpp:[[#@LINE-20]]:
// CHECK-NOT: LEAK
// CHECK:     SUMMARY: tensorscope: 44 bytes leaked in 1 tensor
// CHECK:     ---
// CHECK:     LEAK: 44 bytes in 1 tensor that no handle leads to any more
// CHECK-NOT: LEAK
