// SPDX-License-Identifier: Apache-2.0
#include "tool/WorkerPool.h"
#include "tool/FileReportJson.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace json = llvm::json;

namespace tensorscope {

unsigned defaultJobs() {
  constexpr uint64_t KilobytesPerJob = 1 << 20;
  unsigned Jobs = llvm::hardware_concurrency().compute_thread_count();
  // A size of 0 in its directory entry, so it must be read as a stream.
  if (auto Info = llvm::MemoryBuffer::getFileAsStream("/proc/meminfo")) {
    llvm::StringRef Rest = (*Info)->getBuffer().split("MemAvailable:").second;
    uint64_t Kilobytes = 0;
    if (!Rest.ltrim().consumeInteger(10, Kilobytes))
      Jobs = std::min<uint64_t>(Jobs, Kilobytes / KilobytesPerJob);
  }
  return std::max(Jobs, 1U);
}

namespace {

struct Worker {
  size_t Index;
  pid_t Process;
  int Pipe;
  std::string Received;
};

FileReport failed(std::string Message) {
  FileReport Report;
  Report.Status = FileStatus::Failed;
  Report.Reason.Message = std::move(Message);
  return Report;
}

/// The child's side; never returns.
[[noreturn]] void work(size_t Index, int Pipe,
                       llvm::function_ref<FileReport(size_t)> Check) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  {
    llvm::raw_fd_ostream Out(Pipe, /*shouldClose=*/true);
    Out << json::Value(Check(Index));
  }
  // Without destructors and exit handlers, which are the parent's.
  _exit(0);
}

std::string describeDeath(int Status) {
  if (WIFSIGNALED(Status) && WTERMSIG(Status) == SIGKILL)
    return "the parser was killed; if memory ran out, use fewer --jobs";
  if (WIFSIGNALED(Status))
    return std::string("the parser crashed (") + strsignal(WTERMSIG(Status)) +
           ")";
  return "the parser ended without a result";
}

class Pool {
public:
  Pool(size_t Count, llvm::function_ref<FileReport(size_t)> Check)
      : Check(Check), Reports(Count) {}

  bool idle() const { return Workers.empty(); }
  size_t running() const { return Workers.size(); }

  /// False, with the report saying why, when no process could be made.
  bool start(size_t Index) {
    int Ends[2];
    if (pipe(Ends)) {
      Reports[Index] = failed("no pipe: " + llvm::sys::StrError());
      return false;
    }
    pid_t Process = fork();
    if (Process == 0) {
      close(Ends[0]);
      work(Index, Ends[1], Check);
    }
    close(Ends[1]);
    if (Process < 0) {
      Reports[Index] = failed("no process: " + llvm::sys::StrError());
      close(Ends[0]);
      return false;
    }
    Workers.push_back({Index, Process, Ends[0], {}});
    return true;
  }

  /// Waits for output; calls \p Done for each worker that ended.
  void wait(llvm::function_ref<void(size_t)> Done) {
    std::vector<pollfd> Polls;
    for (const Worker &W : Workers)
      Polls.push_back({W.Pipe, POLLIN, 0});
    if (poll(Polls.data(), Polls.size(), -1) < 0)
      return; // interrupted; the caller comes back
    for (size_t I = Polls.size(); I-- > 0;) {
      if (!Polls[I].revents || !readSome(Workers[I]))
        continue;
      size_t Index = Workers[I].Index;
      finish(Workers[I]);
      Workers.erase(Workers.begin() + I);
      Done(Index);
    }
  }

  llvm::function_ref<FileReport(size_t)> Check;
  std::vector<FileReport> Reports;

private:
  /// True at the end of the worker's output.
  static bool readSome(Worker &W) {
    char Buffer[1 << 16];
    ssize_t Length = read(W.Pipe, Buffer, sizeof(Buffer));
    if (Length > 0)
      W.Received.append(Buffer, Length);
    return Length == 0 || (Length < 0 && errno != EINTR);
  }

  void finish(Worker &W) {
    close(W.Pipe);
    int Status = 0;
    while (waitpid(W.Process, &Status, 0) < 0 && errno == EINTR) {
    }
    FileReport &Report = Reports[W.Index];
    auto Parsed = json::parse<FileReport>(W.Received);
    if (Parsed && WIFEXITED(Status) && WEXITSTATUS(Status) == 0) {
      Report = std::move(*Parsed);
      return;
    }
    if (!Parsed)
      llvm::consumeError(Parsed.takeError());
    Report = failed(describeDeath(Status));
  }

  std::vector<Worker> Workers;
};

} // namespace

std::vector<FileReport>
runInWorkers(size_t Count, unsigned Jobs,
             llvm::function_ref<FileReport(size_t)> Check,
             llvm::function_ref<void(size_t, FileReport &)> Done) {
  Pool Workers(Count, Check);
  auto Tell = [&](size_t Index) { Done(Index, Workers.Reports[Index]); };
  // Output that waits in a buffer would be written again by each child.
  llvm::outs().flush();
  for (size_t Next = 0; Next < Count || !Workers.idle();) {
    if (Next < Count && Workers.running() < Jobs) {
      if (!Workers.start(Next))
        Tell(Next);
      ++Next;
      continue;
    }
    Workers.wait(Tell);
  }
  return std::move(Workers.Reports);
}

} // namespace tensorscope
