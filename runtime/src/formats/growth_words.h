// SPDX-License-Identifier: Apache-2.0
// Growth in words, of a leak that has growth.
#pragma once

#include "formats/json.h"

#include <string>

namespace tensorscope::formats {

/// "GROWTH: ...", of a leak that is nothing else.
std::string growth_headline(const Json& leak);

/// "growth: +3.1 MiB per iteration over 240 iterations"; empty where nothing grew.
std::string growth_text(const Json& leak);

/// What comes before the bytes and the count of what it keeps besides.
std::string growth_keeps(const Json& leak);

std::string growth_advice(const Json& leak);

} // namespace tensorscope::formats
