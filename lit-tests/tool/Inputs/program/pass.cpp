// SPDX-License-Identifier: Apache-2.0
#include "program.h"

void recycle(torch::Tensor t) {
  free_now(t);
}
void recycle_if(torch::Tensor t, bool now) {
  if (now)
    free_now(t);
}
