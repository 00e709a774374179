// SPDX-License-Identifier: Apache-2.0
//
// A finding in words, as the fronts (plugin, command line, language server)
// print it. Plain data: no clang-tidy type, no output format.
#ifndef TENSORSCOPE_CHECKS_DIAGNOSTIC_H
#define TENSORSCOPE_CHECKS_DIAGNOSTIC_H

#include "clang/Basic/SourceLocation.h"
#include <string>
#include <vector>

namespace tensorscope {

/// Definite: the mistake happens on each path that reaches the place.
/// Maybe: it happens on some path.
enum class Confidence { Definite, Maybe };

/// One step of the story that led to a diagnostic, in program order.
struct Note {
  clang::SourceLocation Loc;
  std::string Message;
};

/// Replaces \c Range (a character range) by \c Text.
struct FixEdit {
  clang::CharSourceRange Range;
  std::string Text;
};

struct Diagnostic {
  /// The rule without its "tensorscope-" prefix, e.g. "use-after-release".
  std::string Rule;
  /// 0 = certain, 1 = default, 2 = advice.
  unsigned Level = 0;
  Confidence Conf = Confidence::Definite;
  clang::SourceLocation Loc;
  /// Lower case, no final full stop.
  std::string Message;
  std::vector<Note> Notes;
  /// All or nothing; empty when there is no mechanical fix.
  std::vector<FixEdit> Fixes;
  /// Signature of the enclosing function, part of the fingerprint.
  std::string Function;
};

} // namespace tensorscope

#endif // TENSORSCOPE_CHECKS_DIAGNOSTIC_H
