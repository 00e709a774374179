// SPDX-License-Identifier: Apache-2.0
// Holders in words.
#pragma once

#include "report/holders.h"

namespace tensorscope::report {

/// Lines that begin with "  held by", the most frequent first, at most three.
std::string describe(const LeakHolders& holders);

/// The kind's name in JSON.
const char* name_of(HolderKind kind);

} // namespace tensorscope::report
