// SPDX-License-Identifier: Apache-2.0
//
// A summary that leaves the translation unit it was made in: names in place of
// declarations. Written to summary files (SummaryFile.h), joined by
// ProgramSummaries.h, and looked up again where a caller is analysed.
//
// A new flag or list of paths takes a line in a table of PortableSummary.cpp and
// one in SummaryFile.cpp.
#ifndef TENSORSCOPE_DATAFLOW_PORTABLESUMMARY_H
#define TENSORSCOPE_DATAFLOW_PORTABLESUMMARY_H

#include "dataflow/Summary.h"
#include <optional>
#include <string>
#include <vector>

namespace tensorscope {

/// A Path by names: `0`, `this/.pixels|app::Frame|USR*`, `global|name|USR/[]`.
using PortablePath = std::string;

struct PortableRelease {
  PortablePath Of;
  Trace How;
};

struct PortableSource {
  unsigned Kind = 0; ///< a SourceKind
  PortablePath From;
  unsigned Index = 0;
  bool IsMadeInScope = false;
  bool IsRetained = false;
};

struct PortableStore {
  PortablePath To;
  bool IsWeak = false;
  std::vector<PortableSource> Sources;
};

/// What the function hands on to one of another file.
struct PortableForward {
  std::string Usr; ///< of the callee
  PortablePath Own;
  PortablePath Theirs; ///< the callee's argument
  bool IsAlways = false;
  TraceStep At;
};

struct PortableSummary {
  std::string Usr;
  std::string Signature;
  std::vector<PortableRelease> Released;
  std::vector<PortablePath> MaybeReleased, Retained, Kept, Used;
  std::vector<PortableStore> Stores, Result;
  std::vector<PortableForward> Forwards;
  std::optional<PortablePath> Reference;
  unsigned Sessions = 0; ///< a SessionEffect
  bool MayEndScope = false;
  bool WorksInLoop = false;
  bool CollectsGarbage = false;
  bool MakesInside = false;
};

/// The name by which other translation units know \p F; empty for one that they
/// can't call, or that they see themselves: it is inline, or of a template.
std::string portableName(const clang::FunctionDecl *F);

/// Empty where nobody else can call it.
std::optional<PortableSummary> exportSummary(const Summary &S,
                                             const clang::FunctionDecl *F);

/// The summary for calls in another translation unit. What that can't name, it
/// can't see either: such paths are left out, and what is stored there is kept
/// by somebody.
Summary importSummary(const PortableSummary &P, clang::ASTContext &Ctx);

/// It does something to its caller's tensors that "unknown" does not cover.
bool mattersToCallers(const PortableSummary &P);

} // namespace tensorscope

#endif // TENSORSCOPE_DATAFLOW_PORTABLESUMMARY_H
