// SPDX-License-Identifier: Apache-2.0
// A scan of all writable mappings.
#include "report/handles_search.h"

#include "platform/made_code.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace tensorscope::report {
namespace {

class Search {
 public:
  explicit Search(const std::vector<std::uintptr_t>& complements) : found_(complements.size(), HandlePlace::nowhere) {
    for (std::size_t i = 0; i < complements.size(); ++i) {
      wanted_.emplace_back(complements[i], i);
    }
    std::sort(wanted_.begin(), wanted_.end());
  }

  void look_in(AddressRange range, const std::vector<AddressRange>& skipped, HandlePlace place) {
    reader_.read(range, skipped, [&](std::uintptr_t, std::uintptr_t* words, std::size_t count) {
      look_in_block(words, count, place);
    });
  }

  AddressRange own_block() const { return reader_.own_block(); }
  /// Where nothing could be read, handles may be anywhere.
  std::vector<HandlePlace> found() const {
    return can_read_ && !reader_.refused() ? found_ : std::vector<HandlePlace>(found_.size(), HandlePlace::elsewhere);
  }
  void cannot_read() { can_read_ = false; }

 private:
  /// The block is ours and would be found; its words are complemented as soon as they are read.
  void look_in_block(std::uintptr_t* words, std::size_t count, HandlePlace place) {
    const std::uintptr_t least = wanted_.front().first;
    const std::uintptr_t most = wanted_.back().first;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uintptr_t word = ~words[i];
      words[i] = 0;
      if (word < least || word > most) {
        continue;
      }
      auto hit = std::lower_bound(wanted_.begin(), wanted_.end(), std::pair<std::uintptr_t, std::size_t>(word, 0));
      for (; hit != wanted_.end() && hit->first == word; ++hit) {
        found_[hit->second] = std::max(found_[hit->second], place);
      }
    }
  }

  std::vector<std::pair<std::uintptr_t, std::size_t>> wanted_; ///< complement and place in the question, sorted
  std::vector<HandlePlace> found_;
  MemoryReader reader_;
  bool can_read_ = true;
};

} // namespace

std::vector<HandlePlace> find_handles(const std::vector<std::uintptr_t>& complements, std::vector<AddressRange> skipped) {
  if (complements.empty()) {
    return {};
  }
  Search search(complements);
  skipped.push_back(search.own_block());
  std::sort(skipped.begin(), skipped.end());
  const int on_stack = 0;
  const auto own_stack = reinterpret_cast<std::uintptr_t>(&on_stack);
  const auto mappings = readable_mappings();
  if (mappings.empty()) {
    search.cannot_read();
  }
  for (const Mapping& mapping : mappings) {
    const bool is_own_stack = mapping.range.first <= own_stack && own_stack < mapping.range.second;
    if (!mapping.writable || is_own_stack) {
      continue;
    }
    search.look_in(mapping.range, skipped, mapping.is_static ? HandlePlace::in_static : HandlePlace::elsewhere);
  }
  for (const platform::MadeVariable& variable : platform::made_variables()) {
    search.look_in({variable.begin, variable.end}, {}, HandlePlace::in_static);
  }
  return search.found();
}

} // namespace tensorscope::report
