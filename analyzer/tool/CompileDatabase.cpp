// SPDX-License-Identifier: Apache-2.0
#include "tool/CompileDatabase.h"
#include "tool/Paths.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include <map>

namespace json = llvm::json;
using clang::tooling::CompileCommand;
using clang::tooling::JSONCommandLineSyntax;
using clang::tooling::JSONCompilationDatabase;

namespace tensorscope {

static constexpr llvm::StringLiteral DatabaseName = "compile_commands.json";

static llvm::Error problem(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

/// The databases in a folder, in its `build`, or in the folders of that.
static std::vector<std::string> databasesIn(llvm::StringRef Folder) {
  std::vector<std::string> Found;
  auto Look = [&](llvm::StringRef In) {
    llvm::SmallString<256> File(In);
    llvm::sys::path::append(File, DatabaseName);
    if (llvm::sys::fs::exists(File))
      Found.push_back(std::string(File));
  };
  Look(Folder);
  llvm::SmallString<256> Build(Folder);
  llvm::sys::path::append(Build, "build");
  if (Found.empty())
    Look(Build);
  std::error_code Failure;
  if (!Found.empty())
    return Found;
  for (llvm::sys::fs::directory_iterator It(Build, Failure), End;
       !Failure && It != End; It.increment(Failure))
    Look(It->path());
  return Found;
}

/// The nearest one at or above \p Start.
static llvm::Expected<std::string> findDatabase(llvm::StringRef Start) {
  std::string Absolute = absolutePath(Start);
  for (llvm::StringRef Folder = Absolute; !Folder.empty();
       Folder = llvm::sys::path::parent_path(Folder)) {
    std::vector<std::string> Found = databasesIn(Folder);
    llvm::sort(Found);
    if (Found.size() > 1)
      return problem("several build folders have a " + DatabaseName + ": " +
                     llvm::join(Found, ", ") + "; name one with -p");
    if (!Found.empty())
      return Found.front();
  }
  return problem("no " + DatabaseName + " in " + Absolute +
                 " or above it; name its folder with -p");
}

static llvm::Expected<std::string> locate(llvm::StringRef Location,
                                          llvm::StringRef StartPath) {
  if (Location.empty())
    return findDatabase(StartPath.empty() ? "." : StartPath);
  llvm::SmallString<256> Path(Location);
  if (llvm::sys::fs::is_directory(Path))
    llvm::sys::path::append(Path, DatabaseName);
  if (!llvm::sys::fs::exists(Path))
    return problem(Path + ": no such file; -p takes a folder that holds a " +
                   DatabaseName + ", or the file");
  return std::string(Path);
}

/// llvm::json puts "[line:column, byte=n]: " before its messages.
static std::string withLine(llvm::StringRef File, llvm::StringRef Message) {
  llvm::SmallVector<llvm::StringRef> Parts;
  if (llvm::Regex("^\\[([0-9]+):[0-9]+, byte=[0-9]+\\]: (.*)$")
          .match(Message, &Parts))
    return (File + ":" + Parts[1] + ": " + Parts[2]).str();
  return (File + ": " + Message).str();
}

/// Without a word in it there is no compiler, and nothing to read flags from.
static bool isEmptyCommand(const json::Object &Entry) {
  if (const json::Array *Arguments = Entry.getArray("arguments"))
    return Arguments->empty();
  return Entry.getString("command")->trim().empty();
}

/// The reader in Clang's Tooling says neither which entry is wrong nor why.
static llvm::Error checkShape(llvm::StringRef File, const json::Value &Root) {
  const json::Array *Entries = Root.getAsArray();
  if (!Entries)
    return problem(File + ":1: expected a list of compile commands");
  if (Entries->empty())
    return problem(File + ": the database is empty");
  for (size_t I = 0; I < Entries->size(); ++I) {
    auto Complain = [&](const llvm::Twine &What) {
      return problem(File + ": entry " + llvm::utostr(I + 1) + " " + What);
    };
    const json::Object *Entry = (*Entries)[I].getAsObject();
    if (!Entry)
      return Complain("is not an object");
    for (llvm::StringRef Key : {"file", "directory"})
      if (!Entry->getString(Key))
        return Complain("has no string \"" + Key + "\"");
    if (!Entry->getString("command") && !Entry->getArray("arguments"))
      return Complain("has neither \"command\" nor \"arguments\"");
    if (isEmptyCommand(*Entry))
      return Complain("has an empty command: it must name the compiler");
  }
  return llvm::Error::success();
}

/// A file that links give other names is checked under its first one.
static void dropOtherNames(std::vector<CompileCommand> &Commands) {
  std::map<llvm::sys::fs::UniqueID, std::string> Names;
  llvm::erase_if(Commands, [&](const CompileCommand &Command) {
    llvm::sys::fs::UniqueID ID;
    if (llvm::sys::fs::getUniqueID(Command.Filename, ID))
      return false; // it does not exist: that is told elsewhere
    return Names.try_emplace(ID, Command.Filename).first->second !=
           Command.Filename;
  });
}

llvm::Expected<CompileDatabase>
CompileDatabase::load(llvm::StringRef Location, llvm::StringRef StartPath) {
  llvm::Expected<std::string> Path = locate(Location, StartPath);
  if (!Path)
    return Path.takeError();
  auto Buffer = llvm::MemoryBuffer::getFile(*Path, /*IsText=*/true);
  if (!Buffer)
    return problem(*Path + ": " + Buffer.getError().message());

  CompileDatabase Database;
  Database.File = *Path;
  Database.Text = (*Buffer)->getBuffer().str();
  llvm::Expected<json::Value> Root = json::parse(Database.Text);
  if (!Root)
    return problem(withLine(*Path, llvm::toString(Root.takeError())));
  if (llvm::Error Failure = checkShape(*Path, *Root))
    return Failure;

  std::string Message;
  std::unique_ptr<JSONCompilationDatabase> Json =
      JSONCompilationDatabase::loadFromBuffer(
          Database.Text, Message, JSONCommandLineSyntax::AutoDetect);
  if (!Json)
    return problem(*Path + ": " + Message);
  auto Expanded = clang::tooling::expandResponseFiles(
      std::move(Json), llvm::vfs::getRealFileSystem());
  auto Inferred = clang::tooling::inferTargetAndDriverMode(std::move(Expanded));
  Database.Commands = Inferred->getAllCompileCommands();
  std::string DatabaseFolder =
      absolutePath(llvm::sys::path::parent_path(*Path));
  for (CompileCommand &Command : Database.Commands) {
    Command.Directory = absolutePath(Command.Directory, DatabaseFolder);
    Command.Filename = absolutePath(Command.Filename, Command.Directory);
  }
  llvm::stable_sort(Database.Commands,
                    [](const CompileCommand &A, const CompileCommand &B) {
                      return A.Filename < B.Filename;
                    });
  dropOtherNames(Database.Commands);
  return Database;
}

llvm::Expected<std::vector<CompileCommand>>
CompileDatabase::select(llvm::ArrayRef<std::string> Paths) const {
  if (Paths.empty())
    return Commands;
  std::vector<bool> Wanted(Commands.size());
  for (llvm::StringRef Path : Paths) {
    if (!llvm::sys::fs::exists(Path))
      return problem(Path + ": no such file or folder");
    bool IsFolder = llvm::sys::fs::is_directory(Path);
    std::string Absolute = absolutePath(Path);
    bool Found = false;
    for (size_t I = 0; I < Commands.size(); ++I) {
      llvm::StringRef File = Commands[I].Filename;
      bool Matches = IsFolder ? liesUnder(File, Absolute)
                              : File == Absolute ||
                                    llvm::sys::fs::equivalent(File, Absolute);
      if (Matches)
        Wanted[I] = Found = true;
    }
    if (!Found)
      return problem(Path + ": " + (IsFolder ? "no file under it is" : "not") +
                     " in " + File);
  }
  std::vector<CompileCommand> Selected;
  for (size_t I = 0; I < Commands.size(); ++I)
    if (Wanted[I])
      Selected.push_back(Commands[I]);
  return Selected;
}

unsigned CompileDatabase::lineOf(llvm::StringRef Source) const {
  llvm::StringRef All = Text;
  for (llvm::StringRef Name : {Source, llvm::sys::path::filename(Source)}) {
    std::string Quoted = llvm::formatv("{0}", json::Value(Name)).str();
    // A relative name in the database ends as the file's own name does.
    size_t At = All.find(Quoted);
    if (At == llvm::StringRef::npos)
      At = All.find("/" + llvm::StringRef(Quoted).drop_front().str());
    if (At != llvm::StringRef::npos)
      return 1 + All.take_front(At).count('\n');
  }
  return 0;
}

} // namespace tensorscope
