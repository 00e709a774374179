// SPDX-License-Identifier: Apache-2.0
// From a report in memory to its document.
#pragma once

#include "formats/json.h"
#include "report/leaks.h"

namespace tensorscope::report {

enum class Extent {
  for_text, ///< what the text tells: the stacks of what is held are not looked up
  whole,
};

formats::Json as_document(const Report& report, Symbolizer& symbolizer, Extent extent);

} // namespace tensorscope::report
