// SPDX-License-Identifier: Apache-2.0
// Sums over places.
#include "report/groups.h"

#include <algorithm>

namespace tensorscope::report {

void Sites::add(const core::OwnedStorage& entry, std::uint64_t bytes) {
  Site& site = sites_[{entry.made_by, entry.stack}];
  if (site.count++ == 0) {
    site.made_by = entry.made_by;
    site.stack = entry.stack;
    site.shape = entry.shape;
  }
  site.bytes += bytes;
}

void Sites::add(const Site& more) {
  Site& site = sites_[{more.made_by, more.stack}];
  if (site.count == 0) {
    site.made_by = more.made_by;
    site.stack = more.stack;
    site.shape = more.shape;
  }
  site.count += more.count;
  site.bytes += more.bytes;
}

std::vector<Site> Sites::largest_first() const {
  std::vector<Site> all;
  for (const auto& [place, site] : sites_) {
    all.push_back(site);
  }
  std::stable_sort(all.begin(), all.end(), [](const Site& a, const Site& b) { return a.bytes > b.bytes; });
  return all;
}

void Groups::add(LeakKind kind, const core::Survivor& note, std::uint64_t bytes, const std::string& own_node,
                 const core::Stack* exported_at) {
  Group& group = group_of(kind, note);
  if (exported_at != nullptr && group.leak.exported++ == 0) {
    group.leak.exported_at = exported_at;
  }
  if (group.leak.own_node.empty()) {
    group.leak.own_node = own_node;
  }
  ++group.leak.site.count;
  group.leak.site.bytes += bytes;
  group.leak.tensors.push_back(note.entry);
  group.regions.insert(note.region);
}

void Groups::add_graph(LeakKind keeper_kind, const core::Survivor& keeper, const core::OwnedStorage& kept,
                       std::uint64_t bytes) {
  Group& group = group_of(keeper_kind, keeper);
  group.graph.add(kept, bytes);
  ++group.leak.graph_count;
  group.leak.graph_bytes += bytes;
  group.leak.tensors.push_back(keeper.entry);
}

std::vector<Leak> Groups::leaks(Sites& held) const {
  std::vector<Leak> all;
  for (const auto& [key, group] : groups_) {
    Leak leak = group.leak;
    leak.runs = group.regions.size();
    leak.graph = group.graph.largest_first();
    const bool kept_on_purpose = leak.kind == LeakKind::result && leak.runs < 2 && leak.graph_count == 0;
    if (!kept_on_purpose && leak.bytes() >= question_.min_bytes) {
      all.push_back(std::move(leak));
      continue;
    }
    // A group of kind `graph` counts its keepers elsewhere, and escapes have no memory.
    if (leak.kind != LeakKind::graph && leak.kind != LeakKind::escape) {
      held.add(leak.site);
    }
    for (const auto& site : leak.graph) {
      held.add(site);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Leak& a, const Leak& b) { return a.bytes() > b.bytes(); });
  return all;
}

Groups::Group& Groups::group_of(LeakKind kind, const core::Survivor& note) {
  auto& group = groups_[Key(kind, note.entry.made_by, place_of(note.entry.stack), note.path)];
  if (group.leak.site.made_by == nullptr) {
    group.leak.kind = kind;
    group.leak.path = note.path;
    group.leak.site.made_by = note.entry.made_by;
    group.leak.site.stack = note.entry.stack;
    group.leak.site.shape = note.entry.shape;
  }
  return group;
}

const std::string& Groups::place_of(const core::Stack* stack) {
  const auto [known, is_new] = places_.try_emplace(stack);
  if (is_new && stack != nullptr) {
    std::uint64_t frames = 0;
    for (const SourceFrame* frame : symbolizer_.frames_of(*stack)) {
      if (frame->users && (question_.resolution == 0 || frames++ < question_.resolution)) {
        known->second += to_string(*frame) + "\n";
      }
    }
  }
  return known->second;
}

std::uint64_t Report::escaped_count() const {
  std::uint64_t count = 0;
  for (const auto& leak : leaks) {
    count += leak.kind == LeakKind::escape ? leak.site.count : 0;
  }
  return count;
}

std::uint64_t Report::growth_count() const {
  return static_cast<std::uint64_t>(
      std::count_if(leaks.begin(), leaks.end(), [](const Leak& leak) { return leak.kind == LeakKind::growth; }));
}

std::uint64_t Report::leaked_count() const {
  std::uint64_t count = 0;
  for (const auto& leak : leaks) {
    if (leak.kind == LeakKind::growth) {
      continue;
    }
    count += leak.graph_count + (leak.kind == LeakKind::graph || leak.kind == LeakKind::escape ? 0 : leak.site.count);
  }
  return count;
}

std::uint64_t Report::leaked_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& leak : leaks) {
    bytes += leak.kind == LeakKind::escape || leak.kind == LeakKind::growth ? 0 : leak.bytes();
  }
  return bytes;
}

} // namespace tensorscope::report
