// SPDX-License-Identifier: Apache-2.0
// The options of the loop check: off, and the bound under which a loop is a small one.
// RUN: %check_tidy %s tensorscope-unscoped-loop %t.off --check-suffixes=OFF --expect-clean "--config={CheckOptions: {tensorscope-unscoped-loop.Scopes: 'off'}}"
// RUN: %check_tidy %s tensorscope-unscoped-loop %t.default --check-suffixes=DEFAULT
// RUN: %check_tidy %s tensorscope-unscoped-loop %t.three --check-suffixes=DEFAULT,THREE "--config={CheckOptions: {tensorscope-unscoped-loop.SmallLoopBound: 3}}"
#include <tensorscope/tensorscope.h>
#include <torch/torch.h>

float seventeen(const torch::Tensor &x) {
  float sum = 0;
  for (int i = 0; i < 17; ++i)
    // CHECK-MESSAGES-DEFAULT: :[[@LINE-1]]:3: warning: {{.*}} [tensorscope-unscoped-loop]
    sum += (x * i).sum().item<float>();
  return sum;
}

float four(const torch::Tensor &x) {
  float sum = 0;
  for (int i = 0; i < 4; ++i)
    // CHECK-MESSAGES-THREE: :[[@LINE-1]]:3: warning: {{.*}} [tensorscope-unscoped-loop]
    sum += (x * i).sum().item<float>();
  return sum;
}
