// SPDX-License-Identifier: Apache-2.0
// Compiled twice, with frames of different size and otherwise the same code.
extern "C" __attribute__((visibility("default"))) void tensorscope_call_back(void (*function)()) {
  volatile char block[FRAME_BYTES];
  block[0] = 1;
  function();
  block[1] = block[0];
}
