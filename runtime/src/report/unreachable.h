// SPDX-License-Identifier: Apache-2.0
// Which living storages nothing leads to any more: lost behind blocks that are lost themselves, or in a cycle of blocks.
#pragma once

#include "report/living.h"

#include <string>
#include <vector>

namespace tensorscope::report {

/// Fills in `Living::reach`. Returns why nothing could be concluded; empty where all was looked at.
std::string find_unreachable(std::vector<Ledger>& ledgers, const Question& question,
                             const std::vector<AddressRange>& skipped);

} // namespace tensorscope::report
