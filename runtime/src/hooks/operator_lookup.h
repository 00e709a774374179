// SPDX-License-Identifier: Apache-2.0
// From a running RecordFunction to what its schema says. LibTorch hands schemas out by copy, which costs more than
// most operators; each thread therefore remembers them by the address of the operator's name.
#pragma once

#include "core/thread_record.h"

#include <ATen/record_function.h>

namespace tensorscope::hooks {

/// The operator, or labelled range, that `function` is. Never null; takes a lock only at first sight.
const core::OperatorInfo* operator_of(core::ThreadRecord& thread, const at::RecordFunction& function);

} // namespace tensorscope::hooks
