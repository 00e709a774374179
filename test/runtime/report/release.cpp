// SPDX-License-Identifier: Apache-2.0
// Tensors that are released by hand, inside a scope, after it and outside of any: each use names its three places.
#include <tensorscope/tensorscope.h>

#include <iostream>

static void use(const at::Tensor& tensor) {
  try {
    (void)tensor.view({-1});
    std::cerr << "no error\n";
  } catch (const c10::Error& error) {
    std::cerr << error.msg() << '\n';
  }
}

int main() {
  tensorscope::with_torch([] {
    const auto inside = torch::ones({2, 3});
    tensorscope::release(inside);
    use(inside);
  });
  const auto result = tensorscope::with_torch([] { return torch::ones({5}) * 2; });
  tensorscope::release(result);
  use(result);
  const auto outside = torch::arange(7);
  tensorscope::release(outside);
  use(outside);
}

// CHECK:      tensorscope: use after release: aten::ones (Float [2, 3] on cpu) used by aten::view was released by release() at {{.*}}release.cpp:[[#@LINE-11]]
// CHECK-NEXT: used here:
// CHECK:      released here:
// CHECK:      release.cpp:[[#@LINE-14]]:
// CHECK:      created here:
// CHECK-NEXT: release.cpp:[[#@LINE-17]]:
// CHECK:      tensorscope: use after release: aten::mul (Float [5] on cpu) used by aten::view was released by release() at {{.*}}release.cpp:[[#@LINE-13]]
// CHECK:      created here:
// CHECK-NEXT: release.cpp:[[#@LINE-16]]:
// CHECK:      tensorscope: use after release: aten::arange (Long [7] on cpu) used by aten::view was released by release() at {{.*}}release.cpp:[[#@LINE-13]]
// CHECK:      created here:
// CHECK-NEXT: release.cpp:[[#@LINE-16]]:
// CHECK:      SUMMARY: tensorscope: 0 bytes leaked in 0 tensors; 3 uses after release
