// SPDX-License-Identifier: Apache-2.0
// Function templates of the program whose names, as text, start with LibTorch's types.
#include <tensorscope/tensorscope.h>

#include <optional>
#include <vector>

static std::vector<at::Tensor> kept;

template <class Size>
__attribute__((noinline)) at::Tensor make(Size size) {
  return torch::ones({size});
}

template <class Size>
__attribute__((noinline)) std::optional<at::Tensor> make_perhaps(Size size) {
  return make<Size>(size);
}

int main() {
  tensorscope::with_torch([] { kept.push_back(tensorscope::retain(*make_perhaps<long>(9))); });
}

// CHECK:      LEAK: 36 bytes in 1 tensor that was retained
// CHECK-NEXT: made by aten::ones
// CHECK-NEXT: #0 at::Tensor make<long>(long){{.*}}
// CHECK-NEXT: #1 std::optional<at::Tensor> make_perhaps<long>(long){{.*}}

// STRIPPED:      LEAK: 36 bytes in 1 tensor that was retained
// STRIPPED-NEXT: made by aten::ones
// STRIPPED-NEXT: #0 in report_user_templates_stripped
