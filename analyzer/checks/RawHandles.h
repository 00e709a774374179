// SPDX-License-Identifier: Apache-2.0
//
// What raw-handle-leak asks about the place where an owner is made.
#ifndef TENSORSCOPE_CHECKS_RAWHANDLES_H
#define TENSORSCOPE_CHECKS_RAWHANDLES_H

#include "dataflow/Facts.h"

namespace tensorscope {

/// In `main`, and in no loop there: it lives as long as the program.
bool isMadeOnceInMain(const FunctionFacts &Facts, const Fact &Made);

/// What a function of LibTorch's makes has a way of its own to be freed.
bool isMadeByLibTorch(const Fact &Made);

} // namespace tensorscope

#endif // TENSORSCOPE_CHECKS_RAWHANDLES_H
