// SPDX-License-Identifier: Apache-2.0
// Holders in words.
#pragma once

#include "report/holders.h"

namespace tensorscope::report {

/// The kind's name in JSON.
const char* name_of(HolderKind kind);

} // namespace tensorscope::report
