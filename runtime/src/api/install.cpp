// SPDX-License-Identifier: Apache-2.0
// Set-up of the library, and the public options.
#include "api/install.h"

#include "core/region_stack.h"
#include "hooks/cpu_allocator.h"
#include "hooks/library_calls.h"
#include "hooks/observer.h"
#include "platform/health.h"

#include <tensorscope/error.h>
#include <tensorscope/options.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

namespace tensorscope::api {
namespace {

const core::ParsedOptions& parsed_options() {
  static const auto& parsed = *[] {
    const char* const text = std::getenv("TENSORSCOPE_OPTIONS");
    return new core::ParsedOptions(core::parse_options(text != nullptr ? text : ""));
  }();
  return parsed;
}

constinit std::atomic<bool> installed{false};

/// A thread ended with regions open: their tensors live on by plain reference counting.
void leave_regions(core::ThreadRecord& thread) noexcept {
  if (thread.innermost == nullptr) {
    return;
  }
  platform::report_trouble(platform::Trouble::region_left_open,
                           "a thread ended with a scope or session open: its tensors are left alive");
  while (thread.innermost != nullptr) {
    core::recycle_region(thread, core::pop_region(thread, *thread.innermost));
  }
}

bool install() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!installed.load(std::memory_order_relaxed)) {
    for (const auto& warning : parsed_options().warnings) {
      platform::report_trouble(platform::Trouble::options, warning);
    }
    core::set_thread_end_hook(&leave_regions);
    hooks::install_observer();
    hooks::interposers_reached();
    installed.store(true, std::memory_order_release);
  }
  return true;
}

/// Runs when the library is loaded: the allocator can be replaced only before threads allocate.
[[maybe_unused]] const bool allocator_installed = [] {
  if (parsed_options().options.level != core::Level::off) {
    hooks::install_cpu_allocator();
  }
  return true;
}();

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
  shown.level = given.level == core::Level::off ? Level::off : Level::scopes;
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
