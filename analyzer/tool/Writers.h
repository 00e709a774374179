// SPDX-License-Identifier: Apache-2.0
//
// The output formats, one function each. What to print is decided before.
#ifndef TENSORSCOPE_TOOL_WRITERS_H
#define TENSORSCOPE_TOOL_WRITERS_H

#include "llvm/Support/raw_ostream.h"
#include <string>

namespace tensorscope {

struct Report;
class SourceTexts;

/// Clang's style: the finding with its source line, then a note per step; last
/// a line of totals.
void writeText(llvm::raw_ostream &Out, const Report &Result,
               SourceTexts &Sources, bool Colors);

/// Version 1 of our own format; adds times when \p WithTiming.
void writeJson(llvm::raw_ostream &Out, const Report &Result, bool WithTiming);

/// SARIF 2.1.0 within what GitHub's code scanning accepts.
void writeSarif(llvm::raw_ostream &Out, const Report &Result,
                SourceTexts &Sources);

/// The line of totals, without its end.
std::string summaryLine(const Report &Result);

/// A line per file that could not be checked, `FILE:LINE: error: what`, and
/// with \p WithSkipped one per file that was left out.
void writeFileProblems(llvm::raw_ostream &Out, const Report &Result,
                       bool WithSkipped);

/// Processor time for parsing and analysis per file, sums, and their ratio.
void writeTiming(llvm::raw_ostream &Out, const Report &Result);

} // namespace tensorscope

#endif // TENSORSCOPE_TOOL_WRITERS_H
