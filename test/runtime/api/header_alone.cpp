// SPDX-License-Identifier: Apache-2.0
// Compiled only: the umbrella header pulls in all it needs.
#include <tensorscope/tensorscope.h>

int tensorscope_header_alone(const at::Tensor& tensor) {
  return tensorscope::with_torch([&] { return tensorscope::alive(tensorscope::retain(tensor)) ? 1 : 0; });
}
