// SPDX-License-Identifier: Apache-2.0
// main() of the torch tests: one intra-op thread and a fixed seed, so that two runs give the same bits.
#include "torch_test.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  at::set_num_threads(1);
  torch::manual_seed(20);
  return RUN_ALL_TESTS();
}
