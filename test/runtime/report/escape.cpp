// SPDX-License-Identifier: Apache-2.0
// A tensor leaves its scope without retain and is used later.
#include <tensorscope/tensorscope.h>

#include <iostream>
#include <optional>
#include <string_view>

struct Cache {
  std::optional<at::Tensor> last;
};
static Cache cache;

int main(int argc, char** argv) {
  const std::string_view wanted = argc > 1 ? argv[1] : "";
  tensorscope::with_torch([&] {
    cache.last = torch::randn({33}) * 2;
  });
  if (wanted == "dropped") {
    cache.last = std::nullopt;
    return 0;
  }
  if (wanted == "uncaught") {
    cache.last->add(1);
  }
  for (int i = 0; i < 3; ++i) {
    try {
      std::cout << cache.last->sum().item<double>() << '\n';
    } catch (const tensorscope::UseAfterRelease&) {
    }
  }
}

// CHECK:      USE AFTER RELEASE: aten::mul (Float [33] on cpu), 132 bytes, used by aten::sum 3 times
// CHECK-NEXT: used here:
// CHECK-NEXT: main {{.*}}escape.cpp:[[#@LINE-8]]:
// CHECK-NEXT: released by the end of the scope at {{.*}}escape.cpp:[[#@LINE-21]]
// CHECK-NEXT: released here:
// CHECK:      created here:
// CHECK-NEXT: escape.cpp:[[#@LINE-23]]:
// CHECK:      ESCAPE: 1 tensor with 132 bytes released at the end of a scope and still held
// CHECK:      retain it or return it
// CHECK:      SUMMARY: tensorscope: 0 bytes leaked in 0 tensors; 1 escaped tensor still held; 1 use after release

// UNCAUGHT:      USE AFTER RELEASE: aten::mul (Float [33] on cpu), 132 bytes, used by aten::add
// UNCAUGHT-NEXT: used here:
// UNCAUGHT-NEXT: main {{.*}}escape.cpp:[[#@LINE-23]]:
// UNCAUGHT:      main() had not returned
// UNCAUGHT:      terminate called after throwing an instance of
// UNCAUGHT:      tensorscope: use after release: aten::mul (Float [33] on cpu) used by aten::add was released by the end of the scope

// HALT:       tensorscope: use after release: aten::mul (Float [33] on cpu) used by aten::sum
// HALT-NEXT:  used here:
// HALT-NEXT:  main {{.*}}escape.cpp:[[#@LINE-26]]:

// NOSTACK:       USE AFTER RELEASE: aten::mul (Float [33] on cpu), 132 bytes, used by aten::sum 3 times
// NOSTACK-NEXT:  released by the end of the scope at {{.*}}escape.cpp
// NOSTACK-NOT:   here:
// NOSTACK:       SUMMARY: tensorscope: 0 bytes leaked in 0 tensors; 1 escaped tensor still held; 1 use after release
