// SPDX-License-Identifier: Apache-2.0
// The program's own memory as the kernel tells it: what is mapped, and what stands there. It may change while it is read,
// so each read goes through the kernel, which refuses what is gone.
#pragma once

#include "platform/memory.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tensorscope::report {

/// A range of addresses, without its end.
using AddressRange = std::pair<std::uintptr_t, std::uintptr_t>;

struct Mapping {
  AddressRange range;
  std::string file; ///< of an executable or library, also where variables without initial value follow it; else "[heap]", ""
  bool writable = false;
  bool executable = false;
  bool is_file = false;   ///< part of an executable or library
  bool is_static = false; ///< writable part of one that is no sanitizer: variables of the program
};

/// More than the machine has: an address space that is only reserved, such as a sanitizer's shadow.
bool is_reservation(const AddressRange& range);

/// What is mapped and readable now, by address. Not what is only reserved, such as a sanitizer's shadow.
std::vector<Mapping> readable_mappings();

/// The one that holds `address`; null if none does.
const Mapping* find_mapping(const std::vector<Mapping>& mappings, std::uintptr_t address);

using platform::read_memory;

inline std::optional<std::uintptr_t> read_word(std::uintptr_t from) noexcept {
  std::uintptr_t word = 0;
  return read_memory(from, &word, sizeof word) ? std::optional(word) : std::nullopt;
}

/// `range` without the parts in `skipped`, which is sorted.
std::vector<AddressRange> without(AddressRange range, const std::vector<AddressRange>& skipped);

/// Reads memory in blocks. The block's own address range is to be skipped by who looks for addresses.
class MemoryReader {
 public:
  MemoryReader();
  ~MemoryReader();
  MemoryReader(const MemoryReader&) = delete;
  MemoryReader& operator=(const MemoryReader&) = delete;

  /// Calls `visit(address, words, count)` for each block of aligned words in `range` that was ever written. Returns the
  /// bytes that were read. The visitor may change the words, which are a copy.
  using Visit = std::function<void(std::uintptr_t address, std::uintptr_t* words, std::size_t count)>;
  std::size_t read(AddressRange range, const Visit& visit);

  /// The same without the parts in `skipped`, which is sorted: large ones are not read, words of small ones are zeros.
  std::size_t read(AddressRange range, const std::vector<AddressRange>& skipped, const Visit& visit);

  /// The same as the first; false where some of it could not be read.
  bool read_all(AddressRange range, const Visit& visit);

  AddressRange own_block() const;
  bool refused() const { return refused_; } ///< the kernel does not let this process read itself

 private:
  bool any_used(std::uintptr_t begin, std::size_t bytes) const;

  int pages_ = -1; ///< tells which pages were ever written: reserved memory can be far larger than what is used of it
  bool refused_ = false;
  bool missed_ = false; ///< something could not be read
  std::vector<std::uintptr_t> block_;
};

} // namespace tensorscope::report
