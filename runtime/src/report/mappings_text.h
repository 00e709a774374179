// SPDX-License-Identifier: Apache-2.0
// What the kernel says is mapped, as it says it: two such texts tell whether anything was mapped or given back meanwhile.
#pragma once

#include "report/memory.h"
#include "report/own_mapping.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tensorscope::report {

/// Has memory of its own, so that reading allocates nothing.
class MappingsText {
 public:
  bool read() noexcept;
  bool operator==(const MappingsText& other) const { return text() == other.text(); }

  /// Whether memory that nobody may touch ends where this begins, as before a thread's stack.
  bool has_guard_before(std::uintptr_t begin) const;

  /// Whether more could be written to than the machine has: only `readable_mappings` knows which of it is there.
  bool has_reservation() const;

  AddressRange own_memory() const { return memory_.range(); }

 private:
  std::string_view text() const { return {static_cast<const char*>(memory_.data()), size_}; }

  static constexpr std::size_t kMost = std::size_t{8} << 20;
  OwnMapping memory_{kMost};
  std::size_t size_ = 0;
};

} // namespace tensorscope::report
