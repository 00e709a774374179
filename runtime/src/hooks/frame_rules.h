// SPDX-License-Identifier: Apache-2.0
// Unwinding rules, read from a library's tables by LibTorch's reader of them.
#pragma once

#include "core/stack_walker.h"

namespace tensorscope::hooks {

/// The rule for `pc`. Slow: the tables are searched and read.
core::FrameRule read_frame_rule(std::uintptr_t pc, bool returned_to) noexcept;

} // namespace tensorscope::hooks
