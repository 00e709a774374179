// SPDX-License-Identifier: Apache-2.0
// Memory for what must be kept apart from the memory that is searched.
#pragma once

#include "report/memory.h"

#include <cstddef>

namespace tensorscope::report {

/// Zeros at first; takes memory only where it is written to. The kernel shows it as a mapping of its own, whatever lies
/// beside it.
class OwnMapping {
 public:
  explicit OwnMapping(std::size_t bytes) noexcept;
  ~OwnMapping();
  OwnMapping(const OwnMapping&) = delete;
  OwnMapping& operator=(const OwnMapping&) = delete;

  void* data() const noexcept { return data_; } ///< null where there was none
  AddressRange range() const noexcept;

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

} // namespace tensorscope::report
