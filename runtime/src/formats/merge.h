// SPDX-License-Identifier: Apache-2.0
// One report of several: of the ranks of a job, or of a process and its children.
#pragma once

#include "formats/json.h"

#include <vector>

namespace tensorscope::formats {

/// Adds up what has the same place (see identity.h), and says on how many processes it was and how much of it each had
/// at least and at most ("ranks"). Reports that are themselves merged count as their processes.
Json merge(const std::vector<Json>& reports);

} // namespace tensorscope::formats
