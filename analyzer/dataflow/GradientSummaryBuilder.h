// SPDX-License-Identifier: Apache-2.0
//
// Makes the part of a function's summary that is about autograd.
#ifndef TENSORSCOPE_DATAFLOW_GRADIENTSUMMARYBUILDER_H
#define TENSORSCOPE_DATAFLOW_GRADIENTSUMMARYBUILDER_H

#include "dataflow/GradientFlow.h"
#include "dataflow/GradientSummary.h"

namespace tensorscope {

GradientSummary buildGradientSummary(GradientFlow &Flow);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_GRADIENTSUMMARYBUILDER_H
