// SPDX-License-Identifier: Apache-2.0
// Asks for all tensors at once, then names one way for each word that a way begins with.
#include "report/holders.h"

#include "report/effort.h"
#include "report/holder_names.h"
#include "report/upward_search.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

namespace tensorscope::report {
namespace {

constexpr std::size_t kMostAsked = 200'000;
constexpr std::size_t kMostNamed = 16; // ways of one group
constexpr std::chrono::milliseconds kNaming{400}; // in all, but for the first, which are the largest
constexpr std::size_t kAlwaysNamed = 20;

using Way = std::vector<const HolderEdge*>;
using CameBy = std::map<std::uint32_t, const HolderEdge*>; ///< for each object the edge that led up to it, from one step down

/// Handles that are held in the same way.
struct Ways {
  std::uint64_t count = 0;
  Way one;
  std::string ending; ///< what stands for a variable where there is none
};

class Finder {
 public:
  Finder(const HolderQuestion& question, const TorchClasses& torch, Symbolizer& symbolizer)
      : torch_(torch), mappings_(readable_mappings()), threads_(threads_of_process(mappings_)), debug_(mappings_),
        classes_(mappings_), search_(mappings_, threads_, space(question), SearchLimits()),
        names_(search_, threads_, torch, classes_, debug_, symbolizer, question.stack_is_gone) {}

  void ask(const HeldTensor& tensor) {
    search_.ask(~tensor.complement);
    ++asked_;
  }

  void run() {
    search_.run();
    const auto by_variable = [](const HolderEdge& edge) { return is_variable(edge.kind); };
    const auto by_library = [](const HolderEdge& edge) { return edge.kind == PlaceKind::library_static; };
    to_variables_ = ways_up(search_.objects().size(), search_.edges(), by_variable);
    to_libraries_ = ways_up(search_.objects().size(), search_.edges(), by_library);
  }

  /// Adds the ways to one of the objects asked about.
  void add_ways(std::uint32_t object, std::uint64_t handles, std::map<std::uintptr_t, Ways>& ways) {
    const auto [first, last] = search_.edges_of(object);
    std::uint64_t found = 0;
    std::vector<const HolderEdge*> others;
    std::vector<Way> rooted;
    for (const HolderEdge* edge = first; edge != last; ++edge) {
      if (edge->holder != kNoObject && edge->holder < asked_) {
        continue; // a storage's own tensor
      }
      if (auto way = way_to(*edge, to_variables_); !way.empty()) {
        rooted.push_back(std::move(way));
      } else {
        others.push_back(edge);
      }
    }
    // Words may be left over from earlier, so that no more is believed than there are handles; long ways are the least
    // likely.
    std::stable_sort(rooted.begin(), rooted.end(), [](const Way& a, const Way& b) { return a.size() < b.size(); });
    for (Way& way : rooted) {
      if (found < handles) {
        add(ways, std::move(way), "");
        ++found;
      }
    }
    for (const HolderEdge* edge : others) {
      if (found < handles && add_unrooted(*edge, ways)) {
        ++found;
      }
    }
  }

  void name(const std::map<std::uintptr_t, Ways>& ways, LeakHolders& result) {
    std::map<std::string, Holder> by_text;
    std::size_t named = 0;
    for (const auto& [top, one] : ways) {
      if (named++ >= kMostNamed) {
        break;
      }
      Holder holder = names_.name(one.one, one.ending);
      holder.count = 0;
      Holder& sum = by_text.try_emplace(holder.text, holder).first->second;
      sum.count += one.count;
    }
    for (auto& [text, holder] : by_text) {
      result.holders.push_back(std::move(holder));
    }
    std::stable_sort(result.holders.begin(), result.holders.end(),
                     [](const Holder& a, const Holder& b) { return a.count > b.count; });
  }

  bool stopped_early() const { return search_.stopped_early(); }

 private:
  SearchSpace space(const HolderQuestion& question) {
    SearchSpace space;
    space.skipped = question.skipped;
    // Ours, and with room that was never written: words of an earlier block may stand there.
    const auto list = reinterpret_cast<std::uintptr_t>(mappings_.data());
    space.skipped.emplace_back(list, list + mappings_.capacity() * sizeof(Mapping));
    if (!question.stack_is_gone) {
      space.own_stack = first_frame_of_users();
    }
    space.is_users = [this](std::uintptr_t address) { return debug_.is_users(address); };
    space.is_exact = [this](const AddressRange& block) {
      const FoundObject object = classes_.object_in(block);
      return object.type != nullptr && !object.shared && object.type->is(torch_.counted);
    };
    space.is_weak = [this](const AddressRange& block, std::uintptr_t place) {
      const FoundObject object = classes_.object_in(block);
      return object.type != nullptr && object.type->is(torch_.autograd_meta) &&
          torch_.meta_accumulator.covers(place - object.begin);
    };
    return space;
  }

  /// Where on the calling thread's stack the frames of the program begin: those below are ours.
  std::uintptr_t first_frame_of_users() const {
    for (const RunningFunction& function : running_functions()) {
      if (debug_.is_users(function.pc)) {
        return function.begin;
      }
    }
    return 0;
  }

  /// The way to what `edge` leads to, from the variable down; empty if there is none.
  Way way_to(const HolderEdge& edge, const std::vector<std::uint32_t>& ways) const {
    Way way{&edge};
    while (way.back()->holder != kNoObject) {
      const std::uint32_t next = ways[way.back()->holder];
      if (next == kNoEdge) {
        return {};
      }
      way.push_back(&search_.edges()[next]);
    }
    if (&ways == &to_variables_ ? !is_variable(way.back()->kind) : way.back()->kind != PlaceKind::library_static) {
      return {};
    }
    std::reverse(way.begin(), way.end());
    return way;
  }

  static void add(std::map<std::uintptr_t, Ways>& ways, Way way, std::string ending) {
    Ways& same = ways[way.front()->place];
    if (++same.count == 1) {
      same.one = std::move(way);
      same.ending = std::move(ending);
    }
  }

  /// Adds a way that comes from no variable of the program's: from a cycle, from a library's memory, from nowhere.
  bool add_unrooted(const HolderEdge& edge, std::map<std::uintptr_t, Ways>& ways) {
    if (auto way = way_to(edge, to_libraries_); !way.empty()) {
      add(ways, std::move(way), "");
      return true;
    }
    if (edge.holder == kNoObject) {
      return false;
    }
    bool is_cycle = false;
    Way way = climb(edge, is_cycle);
    const HeldObject& top = search_.objects()[way.front()->holder];
    std::string ending = "a cycle";
    if (!is_cycle) {
      const char* const end = top.mapped ? "" : top.complete ? " that nothing leads to" : ", further not followed";
      ending = names_.describe(top) + end;
    }
    add(ways, std::move(way), std::move(ending));
    return true;
  }

  /// Upward until nothing leads further; where something always does, until it comes back to where it was.
  Way climb(const HolderEdge& edge, bool& is_cycle) const {
    CameBy came_by;
    std::vector<std::uint32_t> to_do{edge.holder};
    came_by.emplace(edge.holder, &edge);
    std::uint32_t top = edge.holder;
    const HolderEdge* back = nullptr; // the first that leads on from where a way up had come by
    for (std::size_t i = 0; i < to_do.size(); ++i) {
      top = to_do[i];
      const auto [first, last] = search_.edges_of(top);
      if (first == last) {
        back = nullptr;
        break;
      }
      for (const HolderEdge* up = first; up != last; ++up) {
        if (up->holder == edge.object) {
          is_cycle = true;
          return way_from(*up, top, came_by, edge);
        }
        if (up->holder != kNoObject && came_by.emplace(up->holder, up).second) {
          to_do.push_back(up->holder);
        } else if (back == nullptr && is_between(up->holder, top, came_by, edge)) {
          back = up;
        }
      }
    }
    is_cycle = back != nullptr;
    if (is_cycle) {
      return way_from(*back, back->object, came_by, edge);
    }
    Way way;
    append_down(way, top, came_by, edge);
    return way;
  }

  static Way way_from(const HolderEdge& top, std::uint32_t from, const CameBy& came_by, const HolderEdge& last) {
    Way way{&top};
    append_down(way, from, came_by, last);
    return way;
  }

  /// Whether the way down from `from` to `last` comes by an object.
  static bool is_between(std::uint32_t object, std::uint32_t from, const CameBy& came_by, const HolderEdge& last) {
    while (from != object && came_by.at(from) != &last) {
      from = came_by.at(from)->object;
    }
    return from == object;
  }

  static void append_down(Way& way, std::uint32_t from, const CameBy& came_by, const HolderEdge& last) {
    const HolderEdge* edge = nullptr;
    do {
      edge = came_by.at(from);
      way.push_back(edge);
      from = edge->object;
    } while (edge != &last);
  }

  const TorchClasses& torch_;
  std::vector<Mapping> mappings_;
  std::vector<ThreadMemory> threads_;
  DebugInfo debug_;
  ObjectClasses classes_;
  UpwardSearch search_;
  HolderNames names_;
  std::uint32_t asked_ = 0;
  std::vector<std::uint32_t> to_variables_, to_libraries_;
};

} // namespace

std::vector<LeakHolders> find_holders(const std::vector<std::vector<HeldTensor>>& groups, const HolderQuestion& question,
                                      const TorchClasses& classes, Symbolizer& symbolizer) {
  std::vector<LeakHolders> all(groups.size());
  Finder finder(question, classes, symbolizer);
  std::size_t asked = 0;
  for (std::size_t i = 0; i < groups.size() && asked < kMostAsked; ++i) {
    for (const HeldTensor& tensor : groups[i]) {
      if (asked < kMostAsked) {
        finder.ask(tensor);
        ++asked;
        ++all[i].looked_at;
      }
    }
  }
  if (asked == 0) {
    return all;
  }
  finder.run();
  Effort naming(kNaming);
  std::uint32_t object = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    all[i].stopped_early = finder.stopped_early();
    std::map<std::uintptr_t, Ways> ways;
    for (std::size_t j = 0; j < all[i].looked_at; ++j, ++object) {
      finder.add_ways(object, groups[i][j].handles, ways);
    }
    const Effort::Counting counting(naming);
    if (i < kAlwaysNamed || !naming.is_spent()) {
      finder.name(ways, all[i]);
    }
  }
  return all;
}

} // namespace tensorscope::report
