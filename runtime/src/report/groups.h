// SPDX-License-Identifier: Apache-2.0
// Adds storages up by the places where they were made. Used while a report is collected.
#pragma once

#include "report/leaks.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tensorscope::report {

/// Sums by operator and stack.
class Sites {
 public:
  void add(const core::OwnedStorage& entry, std::uint64_t bytes);
  void add(const Site& site);
  std::vector<Site> largest_first() const;

 private:
  std::map<std::pair<const core::OperatorInfo*, const core::Stack*>, Site> sites_;
};

/// Sums by kind of leak, operator, scope, and the user's part of the stack.
class Groups {
 public:
  Groups(Symbolizer& symbolizer, const Question& question) : symbolizer_(symbolizer), question_(question) {}

  /// `exported_at`: where a capsule was made over what is lost; null where none was.
  void add(LeakKind kind, const core::Survivor& note, std::uint64_t bytes, const std::string& own_node,
           const core::Stack* exported_at);

  /// `kept` lives because of the graph of `keeper`, in whose group it goes.
  void add_graph(LeakKind keeper_kind, const core::Survivor& keeper, const core::OwnedStorage& kept, std::uint64_t bytes);

  /// What is a leak of these, the largest first; `held` gets the rest. A result of one run of a scope is the program's to
  /// keep; what piles up over several runs, or keeps a graph, is a leak.
  std::vector<Leak> leaks(Sites& held) const;

 private:
  struct Group {
    Leak leak;
    std::set<std::uint64_t> regions;
    Sites graph;
  };
  using Key = std::tuple<LeakKind, const core::OperatorInfo*, std::string, const core::ScopePath*>;

  Group& group_of(LeakKind kind, const core::Survivor& note);
  const std::string& place_of(const core::Stack* stack);

  Symbolizer& symbolizer_;
  const Question& question_;
  std::map<Key, Group> groups_;
  std::unordered_map<const core::Stack*, std::string> places_; ///< the user's frames, as one text
};

} // namespace tensorscope::report
