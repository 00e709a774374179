// SPDX-License-Identifier: Apache-2.0
// What became more between two moments, by the places of its making. Level `full`.
#pragma once

#include "report/leaks.h"

#include <string>
#include <vector>

namespace tensorscope::report {

/// The CPU storages that are alive now, summed up by place; empty below level `full`.
std::vector<Site> living_sites();

/// The places of which `after` has more than `before`, with the difference, the largest first.
std::vector<Site> grown_sites(const std::vector<Site>& before, const std::vector<Site>& after);

/// "aten::ones Float [250] on cpu".
std::string words_of(const Site& site);

/// The program's frames, a line each, indented; empty where there is no stack. Looks each up anew: slow.
std::string stack_of(const Site& site);

} // namespace tensorscope::report
