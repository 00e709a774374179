// SPDX-License-Identifier: Apache-2.0
//
// From the dataflow of a function to its summary.
#ifndef TENSORSCOPE_DATAFLOW_SUMMARYBUILDER_H
#define TENSORSCOPE_DATAFLOW_SUMMARYBUILDER_H

#include "dataflow/StorageFlow.h"
#include "dataflow/Summary.h"

namespace tensorscope {

Summary buildSummary(StorageFlow &Flow);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_SUMMARYBUILDER_H
