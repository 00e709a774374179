// SPDX-License-Identifier: Apache-2.0
//
// What comparisons of an integer with constants say of one another.
#ifndef TENSORSCOPE_DATAFLOW_GUARDCOMPARISONS_H
#define TENSORSCOPE_DATAFLOW_GUARDCOMPARISONS_H

#include "dataflow/State.h"

namespace tensorscope {

/// True when what \p Known says of an integer leaves none for which the
/// comparison of \p Assumption goes as that says.
bool contradicts(const FunctionFacts &Facts, const GuardMap &Known,
                 const Fact &Assumption);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_GUARDCOMPARISONS_H
