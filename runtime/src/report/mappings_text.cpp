// SPDX-License-Identifier: Apache-2.0
// /proc/self/maps: "<begin>-<end> <rights> ...", a line for each mapping.
#include "report/mappings_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>

namespace tensorscope::report {
namespace {

struct Line {
  AddressRange range;
  std::string_view rights;
};

/// Takes one line off `text`.
Line next_line(std::string_view& text) {
  Line line;
  const std::size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
  const char* const end = text.data() + length;
  const auto begins = std::from_chars(text.data(), end, line.range.first, 16);
  if (begins.ptr + 1 < end) {
    const auto ends = std::from_chars(begins.ptr + 1, end, line.range.second, 16);
    if (ends.ptr + 5 <= end) {
      line.rights = {ends.ptr + 1, 4};
    }
  }
  text.remove_prefix(length);
  return line;
}

} // namespace

bool MappingsText::read() noexcept {
  size_ = 0;
  auto* const text = static_cast<char*>(memory_.data());
  const int file = text != nullptr ? ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) {
    return false;
  }
  ssize_t got = 0;
  do {
    got = ::read(file, text + size_, kMost - size_);
    size_ += got > 0 ? static_cast<std::size_t>(got) : 0;
  } while (got > 0 && size_ < kMost);
  ::close(file);
  return got == 0 && size_ != 0;
}

bool MappingsText::has_guard_before(std::uintptr_t begin) const {
  for (std::string_view rest = text(); !rest.empty();) {
    const Line line = next_line(rest);
    if (line.range.second == begin) {
      return line.rights.starts_with("---");
    }
  }
  return false;
}

bool MappingsText::has_reservation() const {
  for (std::string_view rest = text(); !rest.empty();) {
    const Line line = next_line(rest);
    if (line.rights.starts_with("rw") && is_reservation(line.range)) {
      return true;
    }
  }
  return false;
}

} // namespace tensorscope::report
