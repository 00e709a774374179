// SPDX-License-Identifier: Apache-2.0
// A translation unit that does not include the runtime's header uses no scopes: its loops are its own business,
// until the option says that scopes are required.
// RUN: %check_tidy %s tensorscope-unscoped-loop %t --expect-clean
// RUN: %check_tidy %s tensorscope-unscoped-loop %t.required --check-suffixes=REQUIRED "--config={CheckOptions: {tensorscope-unscoped-loop.Scopes: required}}"
#include <torch/torch.h>

float total(const torch::Tensor &x, int steps) {
  float sum = 0;
  for (int i = 0; i < steps; ++i)
    // CHECK-MESSAGES-REQUIRED: :[[@LINE-1]]:3: warning: {{.*}} [tensorscope-unscoped-loop]
    sum += (x * i).sum().item<float>();
  return sum;
}
