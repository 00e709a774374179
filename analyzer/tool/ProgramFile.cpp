// SPDX-License-Identifier: Apache-2.0
#include "tool/ProgramFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <sys/xattr.h>
#include <unistd.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;
using llvm::object::ELF64LEFile;

namespace tensorscope {

/// A script's interpreter may be a script; the system follows this many.
static constexpr unsigned MostInterpreters = 4;

static llvm::Error problem(const llvm::Twine &Text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Text);
}

llvm::Expected<std::string> findProgram(llvm::StringRef Name) {
  if (Name.empty())
    return problem("the program's name is empty");
  if (Name.contains('/')) {
    if (!fs::exists(Name))
      return problem(Name + ": no such file");
    return Name.str();
  }
  llvm::ErrorOr<std::string> Found = llvm::sys::findProgramByName(Name);
  if (Found)
    return *Found;
  if (fs::exists(Name))
    return problem(Name + ": not in PATH; for the one in this folder write ./" +
                   Name);
  return problem(Name + ": no such program in PATH");
}

/// The loader drops what is to be preloaded when a program gains rights.
static llvm::Error checkRights(llvm::StringRef Program,
                               const fs::file_status &Status) {
  llvm::StringRef Gained;
  if ((Status.permissions() & fs::set_uid_on_exe) &&
      Status.getUser() != ::geteuid())
    Gained = "another user's rights (setuid)";
  else if ((Status.permissions() & fs::set_gid_on_exe) &&
           Status.getGroup() != ::getegid())
    Gained = "another group's rights (setgid)";
  else if (::geteuid() != 0 &&
           ::getxattr(Program.str().c_str(), "security.capability", nullptr,
                      0) > 0)
    Gained = "capabilities of its own";
  if (Gained.empty())
    return llvm::Error::success();
  return problem(Program + ": runs with " + Gained +
                 ", so nothing can be preloaded into it; run a copy of the "
                 "file, which has none");
}

static llvm::Error checkFile(llvm::StringRef Program) {
  fs::file_status Status;
  if (std::error_code Failure = fs::status(Program, Status))
    return problem(Program + ": " + Failure.message());
  if (fs::is_directory(Status))
    return problem(Program + ": a folder, not a program");
  if (!fs::can_execute(Program))
    return problem(Program + ": not executable; chmod +x makes it so");
  return checkRights(Program, Status);
}

/// The interpreter that the first line of a script names, with `env` looked
/// through.
static llvm::Expected<std::string> interpreterOf(llvm::StringRef Text) {
  llvm::StringRef Line = Text.drop_front(2).split('\n').first.trim();
  llvm::SmallVector<llvm::StringRef> Words;
  llvm::SplitString(Line, Words);
  if (Words.empty())
    return problem("nothing is named after #!");
  if (path::filename(Words[0]) != "env")
    return Words[0].str();
  for (llvm::StringRef Word : llvm::drop_begin(Words))
    if (!Word.starts_with("-") && !Word.contains('='))
      return findProgram(Word);
  return Words[0].str();
}

/// Whether LibTorch's code is part of the program's own file. Nothing comes
/// before its functions there. A file without symbols tells nothing.
static bool hasTorchInside(const ELF64LEFile &File) {
  // Each LibTorch has it, and programs that link our runtime don't define it.
  constexpr llvm::StringLiteral Dispatcher =
      "_ZN3c1010Dispatcher13realSingletonEv";
  auto Sections = llvm::expectedToOptional(File.sections());
  if (!Sections)
    return false;
  for (const auto &Section : *Sections) {
    if (Section.sh_type != llvm::ELF::SHT_SYMTAB &&
        Section.sh_type != llvm::ELF::SHT_DYNSYM)
      continue;
    auto Symbols = llvm::expectedToOptional(File.symbols(&Section));
    auto Names =
        llvm::expectedToOptional(File.getStringTableForSymtab(Section));
    if (!Symbols || !Names)
      continue;
    for (const auto &Symbol : *Symbols) {
      auto Name = llvm::expectedToOptional(Symbol.getName(*Names));
      if (Symbol.isDefined() && Name && *Name == Dispatcher)
        return true;
    }
  }
  return false;
}

static llvm::Error checkElf(llvm::StringRef Program, llvm::StringRef Bytes,
                            llvm::StringRef Preload) {
  auto Library = llvm::MemoryBuffer::getFile(Preload, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
  if (!Library)
    return problem(Preload + ": " + Library.getError().message());
  auto Ours = ELF64LEFile::create((*Library)->getBuffer());
  auto Theirs = ELF64LEFile::create(Bytes);
  for (auto *File : {&Ours, &Theirs})
    if (!*File)
      return problem((File == &Ours ? Preload : Program) + ": " +
                     llvm::toString(File->takeError()));
  const auto &Header = Theirs->getHeader();
  if (Header.getFileClass() != llvm::ELF::ELFCLASS64)
    return problem(Program + ": a 32-bit program; 64-bit ones can be watched");
  if (Header.getDataEncoding() != llvm::ELF::ELFDATA2LSB ||
      Header.e_machine != Ours->getHeader().e_machine)
    return problem(
        Program + ": built for another processor (" +
        llvm::ELF::convertEMachineToArchName(Header.e_machine) + ")");
  if (hasTorchInside(*Theirs))
    return problem(Program + ": has LibTorch linked into it statically, so its "
                             "calls can't be seen; link it with LibTorch's "
                             "shared libraries");
  auto Segments = Theirs->program_headers();
  if (!Segments)
    return problem(Program + ": " + llvm::toString(Segments.takeError()));
  for (const auto &Segment : *Segments)
    if (Segment.p_type == llvm::ELF::PT_INTERP)
      return llvm::Error::success();
  return problem(Program + ": statically linked, so nothing can be preloaded "
                           "into it; link it with tensorscope::debug instead");
}

static llvm::Error checkProgram(llvm::StringRef Program,
                                llvm::StringRef Preload, unsigned Depth) {
  if (llvm::Error Failure = checkFile(Program))
    return Failure;
  auto File = llvm::MemoryBuffer::getFile(Program, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!File)
    return problem(Program + ": " + File.getError().message());
  llvm::StringRef Bytes = (*File)->getBuffer();
  if (Bytes.starts_with(llvm::ELF::ElfMagic))
    return checkElf(Program, Bytes, Preload);
  if (!Bytes.starts_with("#!"))
    return problem(Program + ": neither an ELF file nor a script that starts "
                             "with #!");
  if (Depth == MostInterpreters)
    return problem(Program + ": its interpreter is a script, and so on");
  llvm::Expected<std::string> Interpreter = interpreterOf(Bytes);
  llvm::Error Failure = Interpreter
                            ? checkProgram(*Interpreter, Preload, Depth + 1)
                            : Interpreter.takeError();
  if (!Failure)
    return llvm::Error::success();
  return problem(Program + ": its interpreter cannot be watched: " +
                 llvm::toString(std::move(Failure)));
}

llvm::Error checkProgram(llvm::StringRef Program, llvm::StringRef Preload) {
  return checkProgram(Program, Preload, 0);
}

} // namespace tensorscope
