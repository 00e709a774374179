// SPDX-License-Identifier: Apache-2.0
// The stack of open regions of one thread.
#include "core/region_stack.h"

#include <utility>

namespace tensorscope::core {
namespace {

constinit std::atomic<std::uint64_t> region_count{0};

} // namespace

Region& push_region(ThreadRecord& thread, RegionKind kind, const std::source_location& where,
                    const Liveness& liveness) {
  std::unique_ptr<Region> region;
  if (thread.spare.empty()) {
    region = std::make_unique<Region>(liveness);
    thread.spare.reserve(++thread.region_count);
  } else {
    region = std::move(thread.spare.back());
    thread.spare.pop_back();
  }
  const LedgerGuard guard(thread);
  region->kind = kind;
  region->where = where;
  region->number = region_count.fetch_add(1, std::memory_order_relaxed) + 1;
  region->outer = thread.innermost;
  region->outer_depths = std::exchange(thread.depths, {});
  if (region->outer_depths.operators != 0) {
    std::swap(region->outer_births, thread.births);
    region->outer_operator = thread.current_operator;
  }
  thread.innermost = region.get();
  if (kind == RegionKind::session) {
    thread.session = region.get();
  }
  return *region.release();
}

std::unique_ptr<Region> pop_region(ThreadRecord& thread, Region& region) noexcept {
  const LedgerGuard guard(thread);
  if (thread.innermost == &region) {
    thread.innermost = region.outer;
    thread.depths = region.outer_depths;
    thread.births.clear();
    std::swap(region.outer_births, thread.births);
    thread.current_operator = region.outer_operator;
  } else {
    Region* inside = thread.innermost;
    while (inside->outer != &region) {
      inside = inside->outer;
    }
    inside->outer = region.outer;
    inside->outer_depths = region.outer_depths;
    inside->outer_births.clear();
    std::swap(inside->outer_births, region.outer_births);
    inside->outer_operator = region.outer_operator;
  }
  if (thread.session == &region) {
    thread.session = nullptr;
  }
  return std::unique_ptr<Region>(&region);
}

void recycle_region(ThreadRecord& thread, std::unique_ptr<Region> region) noexcept {
  region->reset();
  thread.spare.push_back(std::move(region)); // has room: see push_region
}

void drop_abandoned(ThreadRecord& thread) noexcept {
  while (thread.innermost != nullptr && thread.innermost->abandoned.load(std::memory_order_acquire) == thread.innermost->number) {
    recycle_region(thread, pop_region(thread, *thread.innermost));
  }
}

std::uint64_t last_region_number() noexcept {
  return region_count.load(std::memory_order_relaxed);
}

bool inside_scope(const ThreadRecord& thread) {
  return thread.innermost != nullptr && thread.innermost->kind == RegionKind::scope;
}

Region* owner_of(const ThreadRecord& thread, const void* storage) {
  for (Region* region = thread.innermost; region != nullptr; region = region->outer) {
    if (region->owned.owns(storage)) {
      return region;
    }
  }
  return nullptr;
}

} // namespace tensorscope::core
