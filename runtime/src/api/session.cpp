// SPDX-License-Identifier: Apache-2.0
// Sessions: at most one a thread, under all its scopes.
#include "api/closing.h"
#include "api/install.h"
#include "core/region_stack.h"
#include "hooks/graph.h"
#include "hooks/observer.h"
#include "hooks/references.h"
#include "platform/health.h"

#include <tensorscope/detail/runtime.h>
#include <tensorscope/error.h>

namespace tensorscope::detail {

void open_session(const std::source_location& where) {
  if (!api::ready()) {
    return;
  }
  auto& thread = api::record_of_this_thread();
  core::drop_abandoned(thread);
  if (core::inside_scope(thread)) {
    throw UsageError("tensorscope: a session can't be started while a scope is open on this thread");
  }
  close_session(where);
  hooks::watch_results(thread);
  auto& region = core::push_region(thread, core::RegionKind::session, where, hooks::liveness);
  region.opened_at_node = hooks::next_node_number();
  hooks::observe_region(thread, region);
}

void close_session(const std::source_location& where) {
  if (!api::ready()) {
    return;
  }
  auto& thread = api::record_of_this_thread();
  core::drop_abandoned(thread);
  if (thread.session == nullptr) {
    return;
  }
  if (thread.innermost != thread.session) {
    throw UsageError("tensorscope: a session can't be stopped while a scope is open inside it");
  }
  const auto line = api::finish_region(thread, core::pop_region(thread, *thread.session), {{}, where});
  if (!line.empty()) {
    throw EscapeError("tensorscope: " + line);
  }
}

unsigned long long session_number() noexcept {
  const auto* const thread = core::current_record;
  return thread != nullptr && thread->session != nullptr ? thread->session->number : 0;
}

void abandon_session(unsigned long long number, const std::source_location& where) noexcept {
  auto* const thread = core::current_record;
  if (number == 0 || session_number() != number) {
    return; // closed or replaced before, or of another thread, whose end will leave it
  }
  core::drop_abandoned(*thread);
  if (thread->innermost != thread->session) {
    platform::report_trouble(platform::Trouble::out_of_order,
                             "a session ended while a scope is open inside it: its tensors are left alive");
    core::recycle_region(*thread, core::pop_region(*thread, *thread->session));
    return;
  }
  const auto line = api::finish_region(*thread, core::pop_region(*thread, *thread->session), {{}, where});
  if (!line.empty()) {
    platform::print_line(line);
  }
}

} // namespace tensorscope::detail
