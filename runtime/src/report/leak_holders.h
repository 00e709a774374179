// SPDX-License-Identifier: Apache-2.0
// From leaks to the tensors whose holders are searched for, and back.
#pragma once

#include "report/leaks.h"

namespace tensorscope::report {

/// What is known of LibTorch's own objects.
const TorchClasses& torch_classes();

/// Fills in who holds each leak. Its tensors must still be what they were when they were collected, but for what other
/// threads drop meanwhile.
void add_holders(std::vector<Leak>& leaks, const HolderQuestion& question, Symbolizer& symbolizer);

} // namespace tensorscope::report
