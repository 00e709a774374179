// SPDX-License-Identifier: Apache-2.0
#include "shared.h"

void loop_without_scope() {
  for (int i = 0; i < 1000; ++i) {
    torch::Tensor made = torch::rand({13, 7});
    (void)made.dim();
  }
}
