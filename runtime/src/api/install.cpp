// SPDX-License-Identifier: Apache-2.0
// Set-up of the library, and the public options.
#include "api/install.h"

#include "core/fork_guard.h"
#include "core/region_stack.h"
#include "hooks/cpu_allocator.h"
#include "hooks/library_calls.h"
#include "hooks/making.h"
#include "hooks/observer.h"
#include "hooks/references.h"
#include "hooks/released.h"
#include "platform/health.h"
#include "platform/output.h"
#include "report/at_exit.h"
#include "report/out_of_memory.h"
#include "report/suppress.h"
#include "report/words.h"

#include <tensorscope/error.h>
#include <tensorscope/options.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include <unistd.h>

extern "C" {
/// Defined by an object of the executable that CMake's target tensorscope::debug brings.
extern __attribute__((weak, visibility("default"))) const char tensorscope_linked_for_debugging[];
/// Defined by what `tensorscope run` preloads: whether the user named this program, which is not started with bad options.
__attribute__((weak, visibility("default"))) bool tensorscope_named_by_user() noexcept;
/// Defined where LeakSanitizer is.
__attribute__((weak)) void __lsan_do_leak_check();
/// A program may define this: options as in TENSORSCOPE_OPTIONS, which wins.
__attribute__((weak, visibility("default"))) const char* tensorscope_default_options();
}

namespace tensorscope::api {
namespace {

/// What the program was linked for, then what it says itself, then the environment: the later wins.
core::ParsedOptions parse_all_options() {
  core::Options linked;
  if (tensorscope_linked_for_debugging != nullptr) {
    linked.level = core::Level::full;
  }
  const char* const own = tensorscope_default_options != nullptr ? tensorscope_default_options() : nullptr;
  auto parsed = core::parse_options(own != nullptr ? own : "", linked);
  const char* const given = std::getenv("TENSORSCOPE_OPTIONS");
  auto all = core::parse_options(given != nullptr ? given : "", parsed.options);
  all.warnings.insert(all.warnings.begin(), parsed.warnings.begin(), parsed.warnings.end());
  all.error = parsed.error.empty() ? all.error : parsed.error;
  if (auto line = core::trouble_between(all.options); !line.empty()) {
    all.warnings.push_back(std::move(line));
  }
  return all;
}

const core::ParsedOptions& parsed_options() {
  static const auto& parsed = *new core::ParsedOptions(parse_all_options());
  return parsed;
}

std::string words_of(const core::Stack& stack) {
  struct Shared {
    std::mutex mutex;
    report::Symbolizer symbolizer;
  };
  static auto& shared = *core::make_fork_safe<Shared>();
  const std::lock_guard lock(shared.mutex);
  std::string words = report::describe(stack, shared.symbolizer);
  words.pop_back(); // the last line's end
  return words;
}

constinit std::atomic<bool> installed{false};

constexpr int kRefused = 2; ///< status of the command line's refusals

/// The report names what a region owned whose thread ended.
void leave_to_ledger(core::ThreadRecord& thread, core::Region& region) noexcept {
  try {
    const core::LedgerGuard guard(thread);
    const auto* const path = core::path_of(&region);
    for (const auto& entry : region.owned.take()) {
      core::add_survivor(thread, {entry, path, region.number, core::KeptAs::left_open}, hooks::liveness);
    }
    core::note_left_open({region.kind, region.where}, region.number, thread.slot);
  } catch (...) {
    platform::report_trouble(platform::Trouble::region_left_open, "memory is too short to note a region left open");
  }
}

/// A thread ended with regions open: their tensors live on by plain reference counting.
void leave_regions(core::ThreadRecord& thread) noexcept {
  if (thread.innermost == nullptr) {
    return;
  }
  if (!core::ledger_is_kept) {
    platform::report_trouble(platform::Trouble::region_left_open,
                             "a thread ended with a scope or session open: its tensors are left alive");
  }
  while (thread.innermost != nullptr) {
    if (core::ledger_is_kept) {
      leave_to_ledger(thread, *thread.innermost);
    }
    core::recycle_region(thread, core::pop_region(thread, *thread.innermost));
  }
}

bool install() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!installed.load(std::memory_order_relaxed)) {
    for (const auto& warning : parsed_options().warnings) {
      platform::print_line("health: " + warning);
    }
    core::set_thread_end_hook(&leave_regions);
    hooks::install_observer();
    hooks::interposers_reached();
    installed.store(true, std::memory_order_release);
  }
  return true;
}

/// A program that the user named is not started with bad options.
void refuse_if_named() {
  if (tensorscope_named_by_user != nullptr && tensorscope_named_by_user()) {
    ::_exit(kRefused);
  }
}

void load_suppressions(const core::Options& options) {
  const auto problems = report::load_suppressions(options);
  for (const auto& problem : problems) {
    platform::print_line(problem);
  }
  if (!problems.empty()) {
    refuse_if_named();
  }
}

/// Level `full` watches from the start, and may be all there is: a program that knows nothing of the library.
void watch_everything(const core::Options& options) {
  core::ledger_is_kept = true;
  // LeakSanitizer, too, must find what the ledger holds.
  hooks::key_mask = &__lsan_do_leak_check == nullptr ? ~std::uintptr_t{0} : 0;
  hooks::stack_options = {options.depth, options.sample};
  hooks::set_stack_words(&words_of, options.halt);
  hooks::set_doubling_hook(&report::report_at_exit);
  report::prepare_status(options);
  report::watch_out_of_memory(options);
  if (!hooks::limit_cpu_bytes(options.limit_mb << 20)) {
    platform::print_line("health: limit_mb has no effect: the CPU allocator is not LibTorch's own");
  }
  install();
}

/// Runs when the library is loaded: the allocator can be replaced only before threads allocate.
void at_load() {
  const auto& parsed = parsed_options();
  if (parsed.options.help) {
    platform::write_to_stderr(core::options_help());
  }
  if (parsed.options.level != core::Level::off) {
    hooks::install_cpu_allocator();
  }
  if (parsed.options.level != core::Level::full) {
    return;
  }
  if (!parsed.error.empty()) {
    platform::print_line(parsed.error + "; nothing is watched"); // the program may never call us
    refuse_if_named();
    return;
  }
  load_suppressions(parsed.options);
  watch_everything(parsed.options);
}

[[maybe_unused]] const bool loaded = (at_load(), true);

} // namespace

bool ready() {
  if (installed.load(std::memory_order_acquire)) [[likely]] {
    return true;
  }
  const auto& parsed = parsed_options();
  if (!parsed.error.empty()) {
    throw EnvironmentError(parsed.error);
  }
  return parsed.options.level != core::Level::off && install();
}

bool was_ready() noexcept {
  return installed.load(std::memory_order_acquire);
}

const core::Options& options_in_force() {
  return parsed_options().options;
}

core::ThreadRecord& record_of_this_thread() {
  auto* const record = core::this_thread();
  if (record == nullptr) {
    throw std::bad_alloc();
  }
  return *record;
}

} // namespace tensorscope::api

namespace tensorscope {
TENSORSCOPE_INLINE_NAMESPACE {

Options options() {
  api::ready();
  const auto& given = api::options_in_force();
  Options shown;
  switch (given.level) {
    case core::Level::off:
      shown.level = Level::off;
      break;
    case core::Level::scopes:
      shown.level = Level::scopes;
      break;
    case core::Level::full:
      shown.level = Level::full;
      break;
  }
  switch (given.on_escape) {
    case core::OnEscape::release:
      shown.on_escape = OnEscape::release;
      break;
    case core::OnEscape::report:
      shown.on_escape = OnEscape::report;
      break;
    case core::OnEscape::throw_error:
      shown.on_escape = OnEscape::throw_error;
      break;
  }
  return shown;
}

UseAfterRelease::UseAfterRelease(std::string text) : c10::Error(std::move(text)) {}
UseAfterRelease::UseAfterRelease(const UseAfterRelease&) = default;
UseAfterRelease::~UseAfterRelease() = default;

} // inline namespace
} // namespace tensorscope
