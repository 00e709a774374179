// SPDX-License-Identifier: Apache-2.0
// What has to be known to trust a report, a line each.
#pragma once

#include "formats/json.h"

#include <string>

namespace tensorscope::formats {

/// What was not looked at, what rules hid, the library's own troubles. Of a clean report only what is news. Mostly empty.
/// `list_suppressed`: each rule that hid something.
std::string notes_text(const Json& report, bool list_suppressed);

} // namespace tensorscope::formats
