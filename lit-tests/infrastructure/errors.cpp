// SPDX-License-Identifier: Apache-2.0
// A function that does not compile is left out; the others are checked all the same.
// RUN: %not %clang_tidy_22 --load=%plugin_22 "--checks=-*,tensorscope-*" --config={} %s -- %stub_flags 2>&1 | %filecheck %s
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

void broken(torch::Tensor x) {
  tensorscope::release(x);
  (void)x.no_such_member(3);
  // CHECK: [[@LINE-1]]:11: error: no member named 'no_such_member'
}

void whole(torch::Tensor x) {
  tensorscope::release(x);
  (void)x.numel();
  // CHECK: [[@LINE-1]]:11: warning: {{.*}} [tensorscope-use-after-release]
}
