// SPDX-License-Identifier: Apache-2.0
//
// Summary files: what `tensorscope extract` and `link` write and `check` reads.
// The same content is the same bytes.
#ifndef TENSORSCOPE_DATAFLOW_SUMMARYFILE_H
#define TENSORSCOPE_DATAFLOW_SUMMARYFILE_H

#include "dataflow/PortableSummary.h"
#include "llvm/Support/Error.h"

namespace tensorscope {

/// A function that is given tensors and of which nothing is known.
struct UnknownCallee {
  std::string Usr;
  std::string Signature;
  unsigned Calls = 0;
  TraceStep First; ///< its first call
};

struct SummaryFile {
  std::vector<PortableSummary> Functions; ///< sorted by USR
  std::vector<UnknownCallee> Unknown;     ///< sorted by USR
  /// USRs of functions with several bodies, as of programs with one name for
  /// two functions: nothing is known of them.
  std::vector<std::string> Conflicting;
};

std::string writeSummaryFile(const SummaryFile &File);

/// An error is one line that begins with \p Name: a field that this version
/// does not know, another version, a function that is not what its hash says.
llvm::Expected<SummaryFile> readSummaryFile(llvm::StringRef Text,
                                            llvm::StringRef Name);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_SUMMARYFILE_H
