// SPDX-License-Identifier: Apache-2.0
// NOLINT in its forms silences the named check, and only that one.
// RUN: %check_tidy %s tensorscope-* %t
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

void silenced(torch::Tensor x) {
  tensorscope::release(x);
  (void)x.size(0); // NOLINT(tensorscope-use-after-release)
  (void)x.size(1); // NOLINT
  // NOLINTNEXTLINE(tensorscope-use-after-release)
  (void)x.dim();
  // NOLINTBEGIN(tensorscope-*)
  (void)x.numel();
  // NOLINTEND(tensorscope-*)
}

void anotherName(torch::Tensor x) {
  tensorscope::release(x);
  (void)x.size(0); // NOLINT(tensorscope-unscoped-loop)
  // CHECK-MESSAGES: :[[@LINE-1]]:11: warning: {{.*}} [tensorscope-use-after-release]
}
