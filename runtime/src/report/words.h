// SPDX-License-Identifier: Apache-2.0
// Single tensors and stacks in words.
#pragma once

#include "report/symbolizer.h"

#include <string>

namespace tensorscope::report {

/// "Float [4, 4] on cpu"; "a tensor" where nothing is known.
std::string describe(const core::TensorShape* shape);

/// The user's frames of a stack, a line each, indented; LibTorch's are counted in one line.
std::string describe(const core::Stack& stack, Symbolizer& symbolizer);

} // namespace tensorscope::report
