// SPDX-License-Identifier: Apache-2.0
// Another program with a function of the same name that does something else.
#include "program.h"

void free_now(torch::Tensor t) {
  (void)t.sum();
}
