// SPDX-License-Identifier: Apache-2.0
// Makes operators on released tensors throw before they start, those that read no data (view, detach) included.
#pragma once

#include <c10/core/TensorImpl.h>

namespace tensorscope::hooks {

/// From now on each operator on `tensor` throws UseAfterRelease if its storage is released.
void throw_in_operators(c10::TensorImpl& tensor);

} // namespace tensorscope::hooks
