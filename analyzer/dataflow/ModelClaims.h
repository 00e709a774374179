// SPDX-License-Identifier: Apache-2.0
//
// What a model or an annotation says of a function, beside what its body shows.
#ifndef TENSORSCOPE_DATAFLOW_MODELCLAIMS_H
#define TENSORSCOPE_DATAFLOW_MODELCLAIMS_H

#include "dataflow/Facts.h"
#include "dataflow/Summary.h"

namespace tensorscope {

/// Takes the claim's word for what the body leaves open: a tensor that goes on
/// to somebody unknown, or that is released on some paths.
void settleByClaim(Summary &S, const FunctionModel &Claim);

enum class ContradictionKind {
  NoSuchParameter, ///< the claim names one that the function does not have
  NeverReleases,
  NeverRetains,
  NotNew,    ///< the result is what Arg holds
  NotItself, ///< the result is new, or another's
};

struct Contradiction {
  ContradictionKind Kind;
  int Arg = ThisArg;
};

/// Where the body is known to do otherwise on every path; what it leaves open
/// is none. For facts with a claim.
std::vector<Contradiction> contradictions(const Summary &S,
                                          const FunctionFacts &Facts);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_MODELCLAIMS_H
