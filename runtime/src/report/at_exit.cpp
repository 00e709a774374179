// SPDX-License-Identifier: Apache-2.0
// Two handlers: one registered in use writes the report while statics are alive, one registered at load runs late
// and may set the status. See prepare_status and report_at_exit.
#include "report/at_exit.h"

#include "core/fork_guard.h"
#include "core/region_stack.h"
#include "core/timeline.h"
#include "formats/formats.h"
#include "formats/text.h"
#include "hooks/making.h"
#include "platform/health.h"
#include "platform/output.h"
#include "report/document.h"
#include "report/leaks.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
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
  if (::syscall(SYS_gettid) != ::getpid()) {
    return false;
  }
  try {
    for (void* const address : hooks::walk_stack()) {
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

formats::Format form_of(core::ReportFormat format) {
  switch (format) {
    case core::ReportFormat::text:
      return formats::Format::text;
    case core::ReportFormat::json:
      return formats::Format::json;
    case core::ReportFormat::html:
      return formats::Format::html;
    case core::ReportFormat::folded:
      return formats::Format::folded;
    case core::ReportFormat::speedscope:
      return formats::Format::speedscope;
    case core::ReportFormat::sarif:
      return formats::Format::sarif;
    case core::ReportFormat::memory_viz:
      return formats::Format::memory_viz;
  }
  return formats::Format::text;
}

/// Where a report goes, without the extension.
std::string path_for_reports() {
  if (options->log_path.empty()) {
    return "tensorscope-report." + std::to_string(::getpid());
  }
  // The ranks of a job would take one name.
  const bool needs_rank = platform::job_has_others() && !platform::tells_processes_apart(options->log_path);
  return platform::expand_path(options->log_path + (needs_rank ? ".%r" : ""));
}

std::string current_folder() {
  std::error_code failure;
  const auto folder = std::filesystem::current_path(failure);
  return failure ? std::string() : folder.string();
}

void write(const formats::FormatInfo& form, const std::string& text) {
  const bool chosen = !options->log_path.empty();
  if (!chosen && form.for_terminals) {
    platform::write_to_stderr(text);
    return;
  }
  const bool extended = !chosen || options->report.size() > 1;
  const auto written = platform::write_own_file(path_for_reports(), extended ? form.extension : "", text);
  if (!written.problem.empty()) {
    platform::print_line("cannot write the report to '" + written.path + "' (" + (chosen ? "log_path" : "report") +
                         "): " + written.problem);
    if (form.format == formats::Format::text) {
      platform::write_to_stderr(text);
    }
  } else if (written.moved) {
    platform::print_line("the report is in '" + written.path +
                         "': another process has just written the file that log_path names; %p in it keeps them apart");
  } else if (!chosen) {
    platform::print_line("the report is in '" + current_folder() + "/" + written.path + "' (report=" + form.name + ")");
  }
}

void write_all(const Report& report, Symbolizer& symbolizer) {
  const bool text_alone = std::all_of(options->report.begin(), options->report.end(),
                                      [](core::ReportFormat format) { return format == core::ReportFormat::text; });
  if (text_alone && report.clean()) {
    return;
  }
  const formats::Json document = as_document(report, symbolizer, text_alone ? Extent::for_text : Extent::whole);
  formats::Settings settings;
  settings.max_leaks = options->max_leaks;
  settings.source_root = current_folder();
  for (const core::ReportFormat format : options->report) {
    if (format != core::ReportFormat::text || !report.clean()) {
      write(formats::info_of(form_of(format)), formats::render(document, form_of(format), settings));
    }
  }
}

void write_report(bool terminating) noexcept {
  if (written.exchange(true)) {
    return;
  }
  try {
    Symbolizer symbolizer;
    const Report report = collect(question(!terminating && main_has_returned(symbolizer)), symbolizer);
    write_all(report, symbolizer);
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
}

std::string text_now() {
  Symbolizer symbolizer;
  auto ask = question(true);
  ask.stack_is_gone = false;
  const Report report = collect(ask, symbolizer);
  return report.clean() ? std::string()
                        : formats::as_text(as_document(report, symbolizer, Extent::for_text), {options->max_leaks, false});
}

} // namespace tensorscope::report
