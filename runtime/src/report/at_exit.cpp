// SPDX-License-Identifier: Apache-2.0
// Two handlers: one registered in use writes the report while statics are alive, one registered at load runs late
// and may set the status. See prepare_status and report_at_exit.
#include "report/at_exit.h"

#include "core/fork_guard.h"
#include "core/region_stack.h"
#include "core/timeline.h"
#include "hooks/making.h"
#include "platform/health.h"
#include "platform/output.h"
#include "platform/python.h"
#include "report/health.h"
#include "report/leaks.h"
#include "report/out_of_memory.h"
#include "report/python_holders.h"
#include "report/suppress.h"
#include "report/writing.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>

extern "C" {
/// Defined by what `tensorscope run` preloads, which was there before LibTorch was: has `handler` run at the very end.
__attribute__((weak, visibility("default"))) void tensorscope_at_the_end(void (*handler)(int status, void*)) noexcept;
}

namespace tensorscope::report {
namespace {

constinit const core::Options* options = nullptr;
constinit std::atomic<bool> terminate_handler_set{false};
constinit std::atomic<bool> written{false};
constinit std::atomic<bool> python_asked{false};
constinit std::atomic<bool> found_something{false};
constinit std::atomic<std::uint64_t> parents_regions{0}; ///< number of the last region before a fork
constinit std::terminate_handler earlier_terminate = nullptr;

/// Whether `address` lies in the few instructions that call main's caller; a stripped program has no name for them.
bool in_entry(const void* address) {
  constexpr std::uintptr_t kLength = 64; // they take 38 bytes on x86-64
  const auto entry = static_cast<std::uintptr_t>(::getauxval(AT_ENTRY));
  const auto there = reinterpret_cast<std::uintptr_t>(address);
  return entry != 0 && there > entry && there - entry <= kLength;
}

/// Whether exit runs because main returned. If something called exit() instead, frames of the program besides its
/// entry are on the stack; on another thread main is still running. False if the stack can't be read.
bool main_has_returned(Symbolizer& symbolizer) {
  auto* const thread = core::this_thread();
  if (thread == nullptr || ::syscall(SYS_gettid) != ::getpid()) {
    return false;
  }
  try {
    constexpr std::size_t kDeepest = 4096;
    for (void* const address : hooks::walk_stack(*thread, kDeepest)) {
      const SourceFrame& outermost = symbolizer.frames_at(address).back();
      const bool entry = outermost.function == "_start" || in_entry(address);
      if (!entry && (outermost.users || outermost.function == "main")) {
        return false;
      }
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

Question question(bool main_returned) {
  return {main_returned, parents_regions.load(), core::process_generation(), options->min_bytes, options->resolution,
          options->warmup, options->holders, true};
}

/// What the ledgers say, without what the user knows already.
Report make_report(const Question& ask, Symbolizer& symbolizer) {
  Report report = collect(ask, symbolizer);
  apply_suppressions(report, symbolizer);
  if (options->gen_suppressions) {
    for (auto& leak : report.leaks) {
      leak.suppression = suppression_for(leak, symbolizer).text();
    }
  }
  report.health = tracker_health();
  if (!report.unreachable_trouble.empty()) {
    report.health.push_back({report.unreachable_trouble, false});
  }
  report.out_of_memory = std::make_shared<const std::vector<OutOfMemoryNote>>(out_of_memory_notes());
  return report;
}

/// A rule that fits nothing any more should go from its file. Only where all was looked at.
void warn_of_unused_suppressions(const Report& report) {
  if (!report.main_returned || core::process_generation() != 0) {
    return;
  }
  std::string unused;
  for (const auto& rule : unused_suppressions()) {
    unused += (unused.empty() ? "" : ", ") + rule;
  }
  if (!unused.empty()) {
    platform::print_line("suppressions: unused: " + unused);
  }
}

/// What ends the program.
enum class Ending { exit, exception, interpreter };

Report report_at(Ending ending, Symbolizer& symbolizer) {
  auto ask = question(ending == Ending::interpreter || (ending == Ending::exit && main_has_returned(symbolizer)));
  ask.stack_is_gone = ending != Ending::interpreter;
  Report report = make_report(ask, symbolizer);
  if (ending == Ending::interpreter) {
    keep_what_python_piles_up(report);
  }
  return report;
}

void write_report(Ending ending) noexcept {
  if (written.exchange(true)) {
    return;
  }
  try {
    Symbolizer symbolizer;
    const Report report = report_at(ending, symbolizer);
    write_all(report, symbolizer, *options);
    warn_of_unused_suppressions(report);
    found_something.store(!report.clean());
  } catch (const std::exception& error) {
    platform::report_trouble(platform::Trouble::report_failed, std::string("no report could be made: ") + error.what());
  } catch (...) {
    platform::report_trouble(platform::Trouble::report_failed, "no report could be made");
  }
}

void at_exit() { write_report(Ending::exit); }

/// A program's main is the interpreter's, whose objects are about to go. One that has an interpreter inside goes on.
void at_python_exit() noexcept {
  try {
    if (!python_is_the_program()) {
      return;
    }
  } catch (...) {
    return; // the stack can't be read: the report is made at the process's exit
  }
  write_report(Ending::interpreter);
}

/// An uncaught exception must not take the report with it.
[[noreturn]] void at_terminate() {
  write_report(Ending::exception);
  if (earlier_terminate != nullptr) {
    earlier_terminate();
  }
  std::abort();
}

/// The program's own failure stays what it is. What is registered to run after this still runs: a leak checker's own
/// report, a profile that is written, destructors of libraries. (The C library takes a call of exit from a handler for a
/// new status.) Not in a forked child: libraries there may wait for threads that only the parent has.
void set_status(int status, void*) {
  if (status != 0 || !found_something.load() || options->exitcode == 0) {
    return;
  }
  if (core::process_generation() == 0) {
    std::exit(static_cast<int>(options->exitcode));
  }
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(static_cast<int>(options->exitcode));
}

/// In a child process what the parent had is the parent's to report.
void after_fork() {
  parents_regions.store(core::last_region_number());
  if (options->fork == core::OnFork::stop) {
    written.store(true);
  }
}

} // namespace

void prepare_status(const core::Options& given) noexcept {
  options = &given;
  core::start_timeline_clock();
  platform::note_start_for_files();
  if (tensorscope_at_the_end != nullptr) {
    tensorscope_at_the_end(&set_status);
  } else {
    ::on_exit(&set_status, nullptr);
  }
  ::pthread_atfork(nullptr, nullptr, &after_fork);
}

void report_at_exit() noexcept {
  if (options == nullptr || !options->leaks || written.load()) {
    return;
  }
  std::atexit(&at_exit);
  if (!terminate_handler_set.exchange(true)) {
    earlier_terminate = std::set_terminate(&at_terminate);
  }
  if (!python_asked.exchange(true)) {
    platform::call_at_python_exit(&at_python_exit);
  }
}

std::string text_now() {
  Symbolizer symbolizer;
  auto ask = question(true);
  ask.stack_is_gone = false;
  return text_of(make_report(ask, symbolizer), symbolizer, *options);
}

} // namespace tensorscope::report
