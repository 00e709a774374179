// SPDX-License-Identifier: Apache-2.0
// Asks for storages, not for tensors: whatever leads to one of its tensors leads to the storage.
#include "report/unreachable.h"

#include "report/classes_of_objects.h"
#include "report/leak_holders.h"
#include "report/reach_search.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace tensorscope::report {
namespace {

/// With more, reports would take too long.
constexpr std::size_t kMostAsked = 20'000;

/// Whether a sanitizer's allocator is in place. Its blocks are not the C library's.
bool has_sanitizer() {
  constexpr std::array kMarks{"__lsan_do_leak_check", "__asan_init", "__tsan_init", "__hwasan_init", "__msan_init"};
  return std::any_of(kMarks.begin(), kMarks.end(),
                     [](const char* mark) { return ::dlsym(RTLD_DEFAULT, mark) != nullptr; });
}

/// References that keep nothing alive: a tensor's own to the node that sums its gradient up, and that of an object to the
/// counts that std::shared_ptr made for it.
class WeakReferences {
 public:
  WeakReferences() : mappings_(readable_mappings()), classes_(mappings_) {}

  bool is_weak(const AddressRange& holder, std::uintptr_t place, const AddressRange& held) {
    if (holder != holder_) {
      holder_ = holder;
      found_ = classes_.object_in(holder);
    }
    const TorchClasses& torch = torch_classes();
    if (found_.type != nullptr && found_.type->is(torch.autograd_meta) && torch.meta_accumulator.covers(place - found_.begin)) {
      return true;
    }
    return are_counts_of(held, holder);
  }

 private:
  /// As libstdc++ has them where std::make_shared was not used: after two counts a deleter or none, and the address.
  bool are_counts_of(const AddressRange& block, const AddressRange& object) {
    std::array<std::uintptr_t, 4> words{};
    if (block.second - block.first < sizeof words || !read_memory(block.first, words.data(), sizeof words)) {
      return false;
    }
    const ObjectClass* const type = classes_.class_of(words[0]);
    const bool are_counts = type != nullptr &&
        (type->mangled.starts_with("St15_Sp_counted_ptr") || type->mangled.starts_with("St19_Sp_counted_deleter"));
    return are_counts && std::any_of(words.begin() + 2, words.end(), [&](std::uintptr_t word) {
             return object.first <= word && word < object.second;
           });
  }

  std::vector<Mapping> mappings_;
  ObjectClasses classes_;
  AddressRange holder_;
  FoundObject found_;
};

/// What may be lost, and what is not known to be held or lost already.
std::vector<Living*> candidates(std::vector<Ledger>& ledgers, const Question& question) {
  std::vector<Living*> asked;
  for (auto& ledger : ledgers) {
    for (auto& living : ledger.survivors) {
      const bool known = living.handles == HandlePlace::in_static || living.handles == HandlePlace::nowhere;
      if (!living.released && !known && !is_parents(living.note, question)) {
        asked.push_back(&living);
      }
    }
  }
  return asked;
}

bool is_unreachable(const Living& living) { return living.reach == Reach::lost || living.reach == Reach::in_cycle; }

/// Where most of a pile are lost, so are the few that a word seems to lead to: it is left over.
void settle_piles(const std::vector<Living*>& asked) {
  constexpr std::size_t kMost = 4; // for each that seems to be held
  struct Counts {
    std::size_t unreachable = 0;
    std::size_t others = 0;
    Reach reach = Reach::unknown; ///< of the first of the unreachable
  };
  std::map<std::pair<const core::OperatorInfo*, const core::Stack*>, Counts> places;
  const auto place_of = [&](const Living& living) -> Counts& {
    return places[{living.note.entry.made_by, living.note.entry.stack}];
  };
  for (const Living* living : asked) {
    Counts& counts = place_of(*living);
    if (!is_unreachable(*living)) {
      ++counts.others;
    } else if (counts.unreachable++ == 0) {
      counts.reach = living->reach;
    }
  }
  for (Living* living : asked) {
    const Counts& counts = place_of(*living);
    if (living->piled && living->reach == Reach::reached && counts.unreachable >= kMost * counts.others) {
      living->reach = counts.reach;
    }
  }
}

std::string words_of(ReachTrouble trouble) {
  switch (trouble) {
    case ReachTrouble::none:
      return {};
    case ReachTrouble::heap_unknown:
      return "the heap is another allocator's than the C library's, or was overwritten";
    case ReachTrouble::threads_run:
      return "other threads could not be stopped";
    case ReachTrouble::memory_changes:
      return "other threads mapped memory all the time";
    case ReachTrouble::too_large:
      return "the program's memory is too large without its tensors' data";
    case ReachTrouble::unreadable:
      return "the program's memory could not be read";
    case ReachTrouble::not_trusted:
      return "the search failed its own test";
  }
  return {};
}

} // namespace

std::string find_unreachable(std::vector<Ledger>& ledgers, const Question& question,
                             const std::vector<AddressRange>& skipped) {
  const std::string nothing = "whether lost tensors or cycles are among those that are alive was not looked for: ";
  if (!question.main_returned || has_sanitizer()) {
    return {};
  }
  const std::vector<Living*> asked = candidates(ledgers, question);
  if (asked.empty()) {
    return {};
  }
  if (asked.size() > kMostAsked) {
    return nothing + "more than " + std::to_string(kMostAsked) + " are alive";
  }
  std::vector<std::uintptr_t> complements;
  complements.reserve(asked.size());
  for (const Living* living : asked) {
    complements.push_back(~reinterpret_cast<std::uintptr_t>(living->storage.get()));
  }
  std::optional<WeakReferences> weak; // made when the memory was copied: its lists may lie where words are left over
  ReachQuestion ask{skipped, question.stack_is_gone ? CallersFrame() : caller_of_library(), {}};
  ask.is_weak = [&](const AddressRange& holder, std::uintptr_t place, const AddressRange& held) {
    return (weak ? *weak : weak.emplace()).is_weak(holder, place, held);
  };
  const ReachAnswer answer = search_reach(complements, ask);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    // Where the report alone holds a storage, another thread has dropped it meanwhile.
    const bool is_there = c10::raw::intrusive_ptr::use_count(asked[i]->storage.get()) > 1;
    asked[i]->reach = is_there ? answer.reach[i] : Reach::unknown;
  }
  settle_piles(asked);
  return answer.trouble == ReachTrouble::none ? std::string() : nothing + words_of(answer.trouble);
}

} // namespace tensorscope::report
