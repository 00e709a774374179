// SPDX-License-Identifier: Apache-2.0
//
// `tensorscope report`: becomes the runtime's own reader of reports.
#include "tool/Command.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <unistd.h>

namespace tensorscope {

namespace {

class ReportCommand : public Command {
public:
  ReportCommand()
      : Command("report", "shows, merges, converts and compares the runtime's "
                          "reports") {}

  bool passesWordsOn() const override { return true; }
  int runWith(llvm::ArrayRef<const char *> Words) override;
  int run() override { return runWith({}); }
};

} // namespace

/// The folder of this program, links followed.
static llvm::SmallString<256> ownFolder() {
  std::string Executable = llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&makeReportCommand));
  llvm::SmallString<256> Real;
  if (llvm::sys::fs::real_path(Executable, Real))
    Real = Executable;
  llvm::sys::path::remove_filename(Real);
  return Real;
}

int ReportCommand::runWith(llvm::ArrayRef<const char *> Words) {
  llvm::SmallString<256> Program = ownFolder();
  llvm::sys::path::append(Program, "tensorscope-report");
  llvm::SmallVector<char *> All{const_cast<char *>("tensorscope-report")};
  for (const char *Word : Words)
    All.push_back(const_cast<char *>(Word));
  All.push_back(nullptr);
  ::execv(Program.c_str(), All.data());
  return refuse(llvm::Twine("no ") + Program.str() + " (" + llvm::sys::StrError() +
                "); build the runtime, too");
}

std::unique_ptr<Command> makeReportCommand() {
  return std::make_unique<ReportCommand>();
}

} // namespace tensorscope
