// SPDX-License-Identifier: Apache-2.0
#include "BrokenCode.h"

#include "tool/ResourceFolder.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/Basic/FileManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/Lexer.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/PrettyStackTrace.h"
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>
#include <unistd.h>

using namespace clang;

namespace tensorscope::test {

// --- Variants
// ------------------------------------------------------------------

static constexpr size_t Step = 10;

std::vector<Variant> variantsOf(const std::string &Name,
                                const std::string &Text) {
  LangOptions Language;
  Language.CPlusPlus = Language.CPlusPlus20 = true;
  Lexer Lex(SourceLocation(), Language, Text.data(), Text.data(),
            Text.data() + Text.size());
  std::vector<Variant> Variants{{Name, Text}};
  size_t Number = 0;
  for (Token T; !Lex.LexFromRawLexer(T); ++Number) {
    if (Number % Step != Step - 1)
      continue;
    size_t Begin = Lex.getCurrentBufferOffset() - T.getLength();
    std::string At = Name + ": token " + std::to_string(Number);
    Variants.push_back(
        {At + ", and all that follows, left out", Text.substr(0, Begin)});
    Variants.push_back(
        {At + " left out",
         Text.substr(0, Begin) + Text.substr(Begin + T.getLength())});
  }
  return Variants;
}

// --- Running
// -------------------------------------------------------------------

namespace {

class AnalysisConsumer : public ASTConsumer {
public:
  AnalysisConsumer(const ModelSet &Models, AnalyzerStatistics &Statistics)
      : Models(Models), Statistics(Statistics) {}
  void HandleTranslationUnit(ASTContext &Ctx) override {
    AnalyzerOptions Options;
    Options.ExportsSummaries = true;
    Statistics =
        analyzeTranslationUnit(Ctx, Models, Options, [](llvm::StringRef) {
          return true;
        }).Statistics;
  }

private:
  const ModelSet &Models;
  AnalyzerStatistics &Statistics;
};

class AnalysisAction : public ASTFrontendAction {
public:
  AnalysisAction(const ModelSet &Models, AnalyzerStatistics &Statistics)
      : Models(Models), Statistics(Statistics) {}
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &,
                                                 llvm::StringRef) override {
    return std::make_unique<AnalysisConsumer>(Models, Statistics);
  }

private:
  const ModelSet &Models;
  AnalyzerStatistics &Statistics;
};

/// The name of what runs, for a handler of signals.
const char *Running = "";

void endTooSlow(int) {
  for (const char *Text : {"takes longer than a minute: ", Running, "\n"})
    if (write(STDERR_FILENO, Text, strlen(Text)) < 0)
      break;
  _exit(1);
}

bool runTool(const std::vector<std::string> &Arguments,
             std::unique_ptr<FrontendAction> Action) {
  llvm::IntrusiveRefCntPtr<FileManager> Files(
      new FileManager(FileSystemOptions()));
  tooling::ToolInvocation Invocation(
      Arguments, std::move(Action), Files.get(),
      std::make_shared<PCHContainerOperations>());
  IgnoringDiagConsumer Ignored;
  Invocation.setDiagnosticConsumer(&Ignored);
  return Invocation.run();
}

std::string textOf(const std::string &File) {
  auto Buffer = llvm::MemoryBuffer::getFile(File);
  return Buffer ? (*Buffer)->getBuffer().str() : "";
}

void writeText(const std::string &File, llvm::StringRef Text) {
  std::error_code Error;
  llvm::raw_fd_ostream Out(File, Error);
  Out << Text;
}

/// `#include <...>` of all test files, each once.
std::string includesOf(const std::string &Folder) {
  std::set<std::string> Lines;
  std::error_code Error;
  for (llvm::sys::fs::directory_iterator It(Folder, Error), End;
       It != End && !Error; It.increment(Error)) {
    std::string Text = textOf(It->path());
    llvm::SmallVector<llvm::StringRef, 0> All;
    llvm::StringRef(Text).split(All, '\n');
    for (llvm::StringRef Line : All)
      if (Line.starts_with("#include <"))
        Lines.insert(Line.str());
  }
  std::string Header;
  for (const std::string &Line : Lines)
    Header += Line + "\n";
  return Header;
}

std::string temporaryFile(llvm::StringRef Suffix) {
  llvm::SmallString<128> Path;
  llvm::sys::fs::createTemporaryFile("tensorscope-broken", Suffix, Path);
  return Path.str().str();
}

} // namespace

std::vector<std::string> BrokenCodeRunner::arguments() const {
  return {"clang++",
          "-std=c++20",
          "-w",
          "-ferror-limit=0",
          "-resource-dir=" + ResourceFolder,
          "-isystem",
          std::string(TENSORSCOPE_LIT_TESTS) + "/Inputs/torch-stub"};
}

BrokenCodeRunner::BrokenCodeRunner(const std::string &Folder)
    : Models(ModelSet::builtin()), Header(temporaryFile("h")),
      Precompiled(temporaryFile("pch")) {
  llvm::EnablePrettyStackTrace();
  std::signal(SIGALRM, endTooSlow);
  if (auto Found = findResourceFolder())
    ResourceFolder = *Found;
  else
    llvm::consumeError(Found.takeError());
  writeText(Header, includesOf(Folder));
  std::vector<std::string> Arguments = arguments();
  Arguments.insert(Arguments.end(), {"-fpch-instantiate-templates", "-o",
                                     Precompiled, "-x", "c++-header", Header});
  runTool(Arguments, std::make_unique<GeneratePCHAction>());
}

BrokenCodeRunner::~BrokenCodeRunner() {
  llvm::sys::fs::remove(Header);
  llvm::sys::fs::remove(Precompiled);
}

AnalyzerStatistics BrokenCodeRunner::run(const Variant &V) {
  constexpr unsigned MaxSeconds = 60;
  std::string Source = Header + ".cpp";
  writeText(Source, V.Text);
  std::vector<std::string> Arguments = arguments();
  Arguments.insert(Arguments.end(), {"-fsyntax-only", "-include-pch",
                                     Precompiled, "-x", "c++", Source});
  AnalyzerStatistics Statistics;
  llvm::PrettyStackTraceString Entry(V.Name.c_str());
  Running = V.Name.c_str();
  auto Begin = std::chrono::steady_clock::now();
  alarm(MaxSeconds);
  runTool(Arguments, std::make_unique<AnalysisAction>(Models, Statistics));
  alarm(0);
  std::chrono::duration<double> Took = std::chrono::steady_clock::now() - Begin;
  if (Took.count() > Slowest) {
    Slowest = Took.count();
    SlowestName = V.Name;
  }
  llvm::sys::fs::remove(Source);
  return Statistics;
}

} // namespace tensorscope::test
