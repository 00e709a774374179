// SPDX-License-Identifier: Apache-2.0
#include "tool/LeadingHeaders.h"
#include "tool/FileRunner.h"
#include "tool/Paths.h"
#include "clang/Lex/DependencyDirectivesScanner.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
namespace scan = clang::dependency_directives_scan;

namespace tensorscope {
namespace {

bool isLibTorch(llvm::StringRef Header) {
  return llvm::any_of(
      llvm::ArrayRef<llvm::StringRef>{"torch/", "ATen/", "c10/", "tensorscope/"},
      [&](llvm::StringRef Folder) { return Header.starts_with(Folder); });
}

/// Empty if there is no such file.
std::string existing(llvm::StringRef Header, llvm::StringRef Folder) {
  std::string File = absolutePath(Header, Folder);
  return fs::exists(File) ? File : std::string();
}

/// The directives of a file, and their texts.
class Directives {
public:
  explicit Directives(llvm::StringRef Text) : Text(Text) {
    Failed = clang::scanSourceForDependencyDirectives(Text, Tokens, All);
  }

  /// The first word after the directive's name: a macro, or a header as it is
  /// spelled.
  llvm::StringRef word(const scan::Directive &D) const {
    if (D.Tokens.size() < 3)
      return {};
    return Text.slice(D.Tokens[2].Offset, D.Tokens[2].getEnd());
  }

  /// The file begins with a test of a macro that it defines at once.
  bool isGuard(size_t I) const {
    if (I + 1 >= All.size() || All[I + 1].Kind != scan::pp_define ||
        (All[I].Kind != scan::pp_ifndef && All[I].Kind != scan::pp_if) ||
        llvm::any_of(llvm::ArrayRef(All).take_front(I),
                     [](const scan::Directive &D) {
                       return D.Kind != scan::pp_pragma_once;
                     }))
      return false;
    llvm::StringRef Name = word(All[I + 1]);
    return llvm::any_of(All[I].Tokens, [&](const scan::Token &T) {
      return Text.slice(T.Offset, T.getEnd()) == Name;
    });
  }

  llvm::SmallVector<scan::Token, 64> Tokens;
  llvm::SmallVector<scan::Directive, 64> All;
  bool Failed = false;

private:
  llvm::StringRef Text;
};

/// Walks a file and the project's headers in the order of the preprocessor.
class HeaderWalk {
public:
  HeaderWalk(llvm::ArrayRef<std::string> QuoteFolders,
             llvm::ArrayRef<std::string> Folders)
      : QuoteFolders(QuoteFolders), Folders(Folders) {}

  /// False where the search ends.
  bool walk(const std::string &File, bool IsCertain = true, unsigned Depth = 0);

  LeadingHeaders Found;

private:
  static constexpr unsigned MostDepth = 32;

  bool include(llvm::StringRef Spelled, const std::string &From, bool IsCertain,
               unsigned Depth);
  std::string resolve(llvm::StringRef Header, bool IsQuoted) const;

  llvm::ArrayRef<std::string> QuoteFolders;
  llvm::ArrayRef<std::string> Folders;
  /// With the files that are included under a condition apart.
  llvm::StringSet<> Seen[2];
};

bool HeaderWalk::walk(const std::string &File, bool IsCertain,
                      unsigned Depth) {
  if (!Seen[IsCertain].insert(File).second)
    return true;
  auto Buffer = llvm::MemoryBuffer::getFile(File);
  if (!Buffer || Depth == MostDepth)
    return false;
  Directives Read((*Buffer)->getBuffer());
  if (Read.Failed)
    return false;
  // For each condition that is open, whether it is known to hold.
  llvm::SmallVector<bool, 8> Holds;
  for (size_t I = 0; I < Read.All.size(); ++I) {
    const scan::Directive &D = Read.All[I];
    switch (D.Kind) {
    case scan::pp_include:
    case scan::pp_import:
      if (!include(Read.word(D), File,
                   IsCertain && !llvm::is_contained(Holds, false), Depth))
        return false;
      break;
    case scan::pp_define:
    case scan::pp_undef:
      Found.Macros.push_back(Read.word(D).str());
      break;
    case scan::pp_if:
    case scan::pp_ifdef:
    case scan::pp_ifndef: {
      bool IsGuard = Read.isGuard(I);
      Holds.push_back(IsGuard || (D.Kind == scan::pp_ifdef &&
                                  Read.word(D) == "__cplusplus"));
      I += IsGuard;
      break;
    }
    case scan::pp_else:
    case scan::pp_elif:
    case scan::pp_elifdef:
    case scan::pp_elifndef:
      if (!Holds.empty())
        Holds.back() = false;
      break;
    case scan::pp_endif:
      if (!Holds.empty())
        Holds.pop_back();
      break;
    default:
      break;
    }
  }
  return true;
}

bool HeaderWalk::include(llvm::StringRef Spelled, const std::string &From,
                         bool IsCertain, unsigned Depth) {
  bool IsQuoted = Spelled.consume_front("\"") && Spelled.consume_back("\"");
  if (!IsQuoted && !(Spelled.consume_front("<") && Spelled.consume_back(">")))
    return false; // a macro
  std::string File;
  if (IsQuoted)
    File = existing(Spelled, path::parent_path(From));
  if (File.empty() && isLibTorch(Spelled)) {
    if (IsCertain)
      Found.Headers.push_back({Spelled.str(), Found.Macros.size()});
    return true;
  }
  if (File.empty())
    File = resolve(Spelled, IsQuoted);
  // Others than the project's are no matter.
  return File.empty() || walk(File, IsCertain, Depth + 1);
}

std::string HeaderWalk::resolve(llvm::StringRef Header, bool IsQuoted) const {
  if (IsQuoted)
    for (const std::string &Folder : QuoteFolders)
      if (std::string File = existing(Header, Folder); !File.empty())
        return File;
  for (const std::string &Folder : Folders)
    if (std::string File = existing(Header, Folder); !File.empty())
      return File;
  return {};
}

std::vector<std::string>
valuesOf(llvm::StringRef Option,
         const clang::tooling::CompileCommand &Command) {
  std::vector<std::string> Values;
  for (const PathOption &Given : pathOptions(Command.CommandLine, Option))
    Values.push_back(absolutePath(Given.Path, Command.Directory));
  return Values;
}

} // namespace

LeadingHeaders leadingHeaders(const clang::tooling::CompileCommand &Command) {
  std::vector<std::string> QuoteFolders = valuesOf("-iquote", Command);
  std::vector<std::string> Folders = valuesOf("-I", Command);
  HeaderWalk Walk(QuoteFolders, Folders);
  std::vector<std::string> Files = valuesOf("-include", Command);
  // A compiled header, which is left out: CMake names its text as well.
  llvm::erase_if(Files, [](llvm::StringRef File) {
    return path::filename(File).starts_with("-");
  });
  Files.push_back(Command.Filename);
  for (const std::string &File : Files)
    if (!Walk.walk(File))
      break;
  return std::move(Walk.Found);
}

const LeadingHeader *largestHeader(llvm::ArrayRef<LeadingHeader> Headers) {
  for (llvm::StringRef Large :
       {"torch/torch.h", "torch/all.h", "torch/extension.h", "torch/script.h",
        "torch/nn.h", "torch/optim.h", "torch/data.h", "torch/autograd.h",
        "torch/types.h", "ATen/ATen.h"}) {
    const auto *It = llvm::find_if(
        Headers, [&](const LeadingHeader &H) { return H.Name == Large; });
    if (It != Headers.end())
      return It;
  }
  return nullptr;
}

} // namespace tensorscope
