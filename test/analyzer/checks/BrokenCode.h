// SPDX-License-Identifier: Apache-2.0
//
// Runs the whole analysis over changed copies of a test file, in this process.
// The headers that they share are parsed once.
#ifndef TENSORSCOPE_TEST_ANALYZER_CHECKS_BROKENCODE_H
#define TENSORSCOPE_TEST_ANALYZER_CHECKS_BROKENCODE_H

#include "checks/Analyzer.h"
#include "model/ModelSet.h"

#include <string>
#include <vector>

namespace tensorscope::test {

/// A copy of a text without some of its tokens.
struct Variant {
  std::string Name;
  std::string Text;
};

/// For every tenth token of \p Text the text that ends before it, and the text
/// without it; first of all \p Text itself.
std::vector<Variant> variantsOf(const std::string &Name,
                                const std::string &Text);

class BrokenCodeRunner {
public:
  /// Precompiles the headers that the files in \p Folder include.
  explicit BrokenCodeRunner(const std::string &Folder);
  ~BrokenCodeRunner();

  /// Ends the process, naming \p V, where the analysis crashes or takes longer
  /// than a minute.
  AnalyzerStatistics run(const Variant &V);
  double slowest() const { return Slowest; }
  const std::string &slowestName() const { return SlowestName; }

private:
  std::vector<std::string> arguments() const;

  ModelSet Models;
  std::string ResourceFolder;
  std::string Header;
  std::string Precompiled;
  double Slowest = 0;
  std::string SlowestName;
};

} // namespace tensorscope::test

#endif // TENSORSCOPE_TEST_ANALYZER_CHECKS_BROKENCODE_H
