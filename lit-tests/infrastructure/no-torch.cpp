// SPDX-License-Identifier: Apache-2.0
// A file that knows nothing of tensors is passed over in silence.
// RUN: %check_tidy %s tensorscope-* %t --expect-clean
#include <vector>

int sum(const std::vector<int> &values) {
  int total = 0;
  for (int value : values)
    total += value;
  return total;
}
