// SPDX-License-Identifier: Apache-2.0
// One mapping is filled from its beginning; a table says what stands where in it.
#include "report/memory_snapshot.h"

#include <algorithm>
#include <cstring>

namespace tensorscope::report {

std::vector<AddressRange> MemorySnapshot::own_memory() const {
  return {word_memory_.range(), run_memory_.range(), reader_.own_block()};
}

bool MemorySnapshot::add(std::uintptr_t address, const std::uintptr_t* words, std::size_t count) noexcept {
  if (used_ + count > kMostBytes / sizeof(std::uintptr_t)) {
    return false;
  }
  Run* const last = run_count_ != 0 ? &runs_[run_count_ - 1] : nullptr;
  if (last != nullptr && last->end() == address) {
    last->count += count;
  } else if (run_count_ == kMostRuns) {
    return false;
  } else {
    runs_[run_count_++] = {address, count, words_ + used_};
  }
  std::memcpy(words_ + used_, words, count * sizeof(words[0]));
  used_ += count;
  return true;
}

MemorySnapshot::Outcome MemorySnapshot::take(std::span<const AddressRange> ranges) noexcept {
  used_ = 0;
  run_count_ = 0;
  if (words_ == nullptr || runs_ == nullptr) {
    return Outcome::unreadable;
  }
  bool fits = true;
  const MemoryReader::Visit copy = [&](std::uintptr_t address, std::uintptr_t* words, std::size_t count) {
    fits = fits && add(address, words, count);
  };
  for (const AddressRange& range : ranges) {
    if (!reader_.read_all(range, copy)) {
      return Outcome::unreadable;
    }
    if (!fits) {
      return Outcome::too_large;
    }
  }
  return Outcome::done;
}

void MemorySnapshot::blank(std::span<const AddressRange> ranges) {
  for (const AddressRange& range : ranges) {
    // Also the words of which only a part is in the range.
    visit({range.first & ~std::uintptr_t{7}, (range.second + 7) & ~std::uintptr_t{7}},
          [&](std::uintptr_t, const std::uintptr_t* words, std::size_t count) {
            std::fill_n(words_ + (words - words_), count, 0);
          });
  }
}

/// The first run that ends behind the address.
const MemorySnapshot::Run* MemorySnapshot::run_behind(std::uintptr_t address) const {
  return std::upper_bound(runs_, runs_ + run_count_, address,
                          [](std::uintptr_t wanted, const Run& run) { return wanted < run.end(); });
}

bool MemorySnapshot::read(std::uintptr_t from, void* to, std::size_t bytes) const {
  const Run* const run = run_behind(from);
  if (run == runs_ + run_count_ || from < run->begin || run->end() - from < bytes) {
    return false;
  }
  std::memcpy(to, reinterpret_cast<const char*>(run->words) + (from - run->begin), bytes);
  return true;
}

} // namespace tensorscope::report
