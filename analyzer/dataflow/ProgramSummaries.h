// SPDX-License-Identifier: Apache-2.0
//
// The summaries of a whole program's functions, joined without looking at any
// source: what a function hands on to another is settled by that one's summary.
#ifndef TENSORSCOPE_DATAFLOW_PROGRAMSUMMARIES_H
#define TENSORSCOPE_DATAFLOW_PROGRAMSUMMARIES_H

#include "dataflow/SummaryFile.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <set>

namespace tensorscope {

class ProgramSummaries {
public:
  /// In any order: what comes out is the same.
  void add(const SummaryFile &File);
  /// Settles what is handed on. Call it once all files are added.
  void link();

  /// Null for a function of which nothing, or no one thing, is known.
  const PortableSummary *find(llvm::StringRef Usr) const;
  bool empty() const { return Functions.empty(); }

  SummaryFile file() const;
  /// Callees of which nothing is known now, most called first.
  std::vector<UnknownCallee> missing() const;

private:
  bool settle(PortableSummary &S);

  std::map<std::string, PortableSummary, std::less<>> Functions;
  std::map<std::string, UnknownCallee> Unknown;
  std::set<std::string> Conflicting;
};

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_PROGRAMSUMMARIES_H
