// SPDX-License-Identifier: Apache-2.0
// Sessions: at most one a thread, under all its scopes.
#include "api/closing.h"
#include "api/install.h"
#include "core/region_stack.h"
#include "hooks/devices.h"
#include "hooks/graph.h"
#include "hooks/observer.h"
#include "hooks/references.h"
#include "platform/health.h"
#include "report/at_exit.h"

#include <tensorscope/detail/runtime.h>
#include <tensorscope/error.h>

#include <cstring>

namespace tensorscope::detail {
namespace {

/// Starting a session anew is legal. That a line does so again and again while its own last one is open is a way out
/// that forgets to stop it.
void note_replaced(core::ThreadRecord& thread, const std::source_location& where) {
  const core::Region* const open = thread.session;
  if (core::ledger_is_kept && open != nullptr && open->where.line() == where.line() &&
      std::strcmp(open->where.file_name(), where.file_name()) == 0) {
    core::note_replaced_session(where, open->number, thread.slot);
  }
}

} // namespace

OpenRegion open_session(const std::source_location& where) {
  if (!api::ready()) {
    return {};
  }
  auto& thread = api::record_of_this_thread();
  core::drop_abandoned(thread);
  if (core::inside_scope(thread)) {
    throw UsageError("tensorscope: a session can't be started while a scope is open on this thread");
  }
  note_replaced(thread, where);
  close_session(where);
  hooks::settle_devices();
  report::report_at_exit(); // the program may make no tensor at all
  auto& region = core::push_region(thread, core::RegionKind::session, where, hooks::liveness);
  region.opened_at_node = hooks::next_node_number();
  hooks::observe_region(thread, region);
  return {&region, &thread, region.number};
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

void abandon_session(const OpenRegion& session, const std::source_location& where) noexcept {
  auto* const thread = core::current_record;
  if (session.region == nullptr) {
    return;
  }
  if (session.thread != thread) {
    platform::report_trouble(platform::Trouble::wrong_thread,
                             "a session was destroyed on another thread than it was opened on: it stays open there");
    return;
  }
  if (thread->session == nullptr || thread->session->number != session.number) {
    return; // closed or replaced before
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
