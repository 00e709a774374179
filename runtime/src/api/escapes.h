// SPDX-License-Identifier: Apache-2.0
// What escaped a region: told apart from what it drags along, released or left alive, and named.
#pragma once

#include "api/classes.h"
#include "api/closing.h"

#include <string>

namespace tensorscope::api {

/// Whether escapes are left alive: if that was asked for, and where it is not known what LibTorch itself holds.
bool escapes_stay();

/// Marks what lives only by the graph of another escape: of a loss and forty activations the loss alone escaped. If
/// escapes stay, these are kept by a graph. `made_inside` gets what operators made for these graphs.
void sort_escapes(Classes& classes, ClosingGraphs& graphs, hooks::GraphOnlyStorages& made_inside);

/// Does with the escapes, and with `made_inside` for their graphs, as `on_escape` says. Returns the line of an error that
/// is to be thrown, or an empty text.
std::string meet_escapes(core::ThreadRecord& thread, const core::Region& region, const Ending& ending, Classes& classes,
                         const hooks::GraphOnlyStorages& made_inside);

} // namespace tensorscope::api
