// SPDX-License-Identifier: Apache-2.0
// A program that says by hooks how it is watched, and which of its leaks are known.
#include <tensorscope/tensorscope.h>

#include <vector>

// The project's own code is hidden unless it says otherwise; a program's mostly is not.
#define HOOK extern "C" __attribute__((visibility("default"))) const char*
HOOK tensorscope_default_options() { return OWN_OPTIONS; }
HOOK tensorscope_default_suppressions() { return "# made once\nop:^aten::zeros$\nthis is no rule\n"; }

static std::vector<at::Tensor> kept;

int main() {
  tensorscope::with_torch([] {
    kept.push_back(tensorscope::retain(torch::zeros({5})));
    kept.push_back(tensorscope::retain(torch::ones({7})));
  });
}

// CHECK:      tensorscope: suppressions: tensorscope_default_suppressions():3: 'this is no rule' is no rule: use leak:,
// CHECK-NEXT: LEAK: 28 bytes in 1 tensor that was retained
// CHECK-NOT:  LEAK:
// CHECK:      Suppressed: 1 leak, 20 bytes
// CHECK-NEXT: SUMMARY: tensorscope: 28 bytes leaked in 1 tensor; 100.0 % of 48 bytes live attributed
// CHECK-NOT:  {{.}}
