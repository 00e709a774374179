// SPDX-License-Identifier: Apache-2.0
//
// Streams of a device in one translation unit: what is dropped or written while
// work on a stream may still use it. Callees are walked in place, and only
// functions that switch streams, or copy without waiting, are looked at.
#ifndef TENSORSCOPE_DATAFLOW_STREAMANALYSIS_H
#define TENSORSCOPE_DATAFLOW_STREAMANALYSIS_H

#include "dataflow/FactsGenerator.h"
#include "dataflow/StreamFlow.h"

namespace tensorscope {

/// A finding with what it needs to be told.
struct StreamReport {
  StreamHazard Kind = StreamHazard::Dropped;
  std::string Name;
  /// As the user wrote it; empty for the stream of the caller.
  std::string Stream;
  const clang::Stmt *At = nullptr;
  const clang::Stmt *Work = nullptr;
  const clang::Stmt *Origin = nullptr;
  /// The callees in which it happens, if not here.
  std::string Through;
  std::string WorkThrough;
  /// A variable each, where the work begins in the function itself.
  const clang::ValueDecl *Tensor = nullptr;
  const clang::ValueDecl *StreamVariable = nullptr;
};

class StreamAnalysis {
public:
  StreamAnalysis(UnitContext &Unit, unsigned StepLimit)
      : Unit(Unit), StepLimit(StepLimit) {}

  /// Of \p F; what a callee has on its own is the callee's alone.
  std::vector<StreamReport> findings(const clang::FunctionDecl *F);

private:
  UnitContext &Unit;
  const unsigned StepLimit;
  /// The place and the work of each report so far.
  std::set<std::pair<const clang::Stmt *, const clang::Stmt *>> Told;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_STREAMANALYSIS_H
