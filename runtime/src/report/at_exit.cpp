// SPDX-License-Identifier: Apache-2.0
// Two handlers: one registered in use writes the report while statics are alive, one registered at load runs late
// and may set the status. See prepare_status and report_at_exit.
#include "report/at_exit.h"

#include "core/fork_guard.h"
#include "core/region_stack.h"
#include "hooks/making.h"
#include "platform/health.h"
#include "platform/output.h"
#include "report/leaks.h"
#include "report/words.h"


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
  return {main_returned, parents_regions.load(), core::process_generation(), options->min_bytes, options->resolution, true};
}

std::string path_for(core::ReportFormat format) {
  std::string path = platform::expand_path(options->log_path);
  if (options->report.size() > 1) {
    path += format == core::ReportFormat::json ? ".json" : ".txt";
  }
  return path;
}

void write(core::ReportFormat format, const std::string& text) {
  if (options->log_path.empty()) {
    platform::write_to_stderr(text);
    return;
  }
  const std::string path = path_for(format);
  std::string problem;
  if (!platform::write_file(path, text, problem)) {
    platform::print_line("cannot write the report to '" + path + "' (log_path): " + problem);
    platform::write_to_stderr(text);
  }
}

void write_report(bool terminating) noexcept {
  if (written.exchange(true)) {
    return;
  }
  try {
    Symbolizer symbolizer;
    const Report report = collect(question(!terminating && main_has_returned(symbolizer)), symbolizer);
    for (const core::ReportFormat format : options->report) {
      if (format == core::ReportFormat::json) {
        write(format, as_json(report, symbolizer));
      } else if (!report.clean()) {
        write(format, as_text(report, symbolizer, options->max_leaks));
      }
    }
    found_something.store(!report.clean());
  } catch (const std::exception& error) {
    platform::report_trouble(platform::Trouble::report_failed, std::string("no report could be made: ") + error.what());
  } catch (...) {
    platform::report_trouble(platform::Trouble::report_failed, "no report could be made");
  }
}

void at_exit() { write_report(false); }

/// An uncaught exception must not take the report with it.
[[noreturn]] void at_terminate() {
  write_report(true);
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
}

std::string text_now() {
  Symbolizer symbolizer;
  auto ask = question(true);
  ask.stack_is_gone = false;
  return as_text(collect(ask, symbolizer), symbolizer, options->max_leaks);
}

} // namespace tensorscope::report
