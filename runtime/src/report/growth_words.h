// SPDX-License-Identifier: Apache-2.0
// Growth in words.
#pragma once

#include "report/leaks.h"

#include <string>

namespace tensorscope::report {

/// "GROWTH: ...", of a leak that has growth.
std::string growth_headline(const Leak& leak);

/// "growth: +3.1 MiB per iteration over 240 iterations".
std::string growth_line(const Growth& growth);

/// What comes before the bytes and the count of what it keeps besides.
const char* growth_keeps(const Growth& growth);

const char* growth_advice(const Growth& growth);

} // namespace tensorscope::report
