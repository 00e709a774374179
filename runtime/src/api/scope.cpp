// SPDX-License-Identifier: Apache-2.0
// Opening and closing scopes: who may close what, from where.
#include "api/closing.h"
#include "api/install.h"
#include "core/region_stack.h"
#include "hooks/cpu_allocator.h"
#include "hooks/devices.h"
#include "hooks/graph.h"
#include "hooks/observer.h"
#include "hooks/references.h"
#include "platform/health.h"

#include <tensorscope/detail/runtime.h>
#include <tensorscope/error.h>

#include <utility>

namespace tensorscope::detail {
namespace {

using core::Region;

/// Whether the scope is still open. It is not when its thread's regions were unwound before its object died.
bool is_open(const OpenRegion& scope) {
  return scope.region->number == scope.number;
}

} // namespace

OpenRegion open_scope(const std::source_location& where) {
  if (!api::ready()) {
    return {};
  }
  auto& thread = api::record_of_this_thread();
  core::drop_abandoned(thread);
  if (!hooks::cpu_allocator_in_place()) [[unlikely]] {
    platform::report_trouble(platform::Trouble::allocator_replaced,
                             "another CPU allocator was set after the library was loaded: scopes own nothing");
  }
  hooks::settle_devices();
  Region& region = core::push_region(thread, core::RegionKind::scope, where, hooks::liveness);
  region.opened_at_node = hooks::next_node_number();
  hooks::observe_region(thread, region);
  return {&region, &thread, region.number};
}

void close_scope(OpenRegion& scope, const Tensors& kept) {
  if (scope.region == nullptr) {
    return;
  }
  if (scope.thread != core::current_record) {
    throw UsageError("tensorscope: a scope can be closed only on the thread that opened it");
  }
  core::drop_abandoned(*scope.thread);
  if (!is_open(scope)) {
    scope.region = nullptr;
    return;
  }
  if (scope.thread->innermost != scope.region) {
    throw UsageError("tensorscope: a scope can't be closed while another scope is open inside it");
  }
  Region& region = *std::exchange(scope.region, nullptr);
  const auto line = api::finish_region(*scope.thread, core::pop_region(*scope.thread, region), {kept, {}});
  if (!line.empty()) {
    throw EscapeError("tensorscope: " + line);
  }
}

void abandon_scope(OpenRegion& scope) noexcept {
  Region* const region = scope.region;
  if (region == nullptr) {
    return;
  }
  if (scope.thread != core::current_record) {
    platform::report_trouble(platform::Trouble::wrong_thread,
                             "a scope was destroyed on another thread than it was opened on: its tensors are left alive");
    region->abandoned.store(scope.number, std::memory_order_release);
    return;
  }
  core::drop_abandoned(*scope.thread);
  if (!is_open(scope)) {
    return;
  }
  if (scope.thread->innermost != region) {
    platform::report_trouble(platform::Trouble::out_of_order,
                             "a scope was destroyed while another is open inside it: its tensors are left alive");
    core::recycle_region(*scope.thread, core::pop_region(*scope.thread, *region));
    return;
  }
  const auto line = api::finish_region(*scope.thread, core::pop_region(*scope.thread, *region), {{}, {}});
  if (!line.empty()) {
    platform::print_line(line);
  }
}

} // namespace tensorscope::detail
