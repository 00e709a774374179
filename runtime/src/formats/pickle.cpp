// SPDX-License-Identifier: Apache-2.0
#include "formats/pickle.h"

#include <limits>
#include <utility>

namespace tensorscope::formats {

void Pickle::little_endian(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) {
    bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
}

void Pickle::number(std::uint64_t value) {
  if (value <= std::numeric_limits<std::int32_t>::max()) {
    bytes_ += 'J'; // BININT: four bytes, signed
    little_endian(value, 4);
  } else {
    bytes_ += "\x8a\x09"; // LONG1 of nine bytes, so that the sign is plus
    little_endian(value, 8);
    bytes_ += '\0';
  }
}

void Pickle::text(std::string_view value) {
  const auto known = texts_.find(std::string(value));
  if (known != texts_.end()) {
    recall(known->second);
    return;
  }
  bytes_ += 'X'; // BINUNICODE
  little_endian(value.size(), 4);
  bytes_ += value;
  texts_.emplace(value, remember());
}

std::uint32_t Pickle::remember() {
  bytes_ += 'r'; // LONG_BINPUT
  little_endian(remembered_, 4);
  return remembered_++;
}

void Pickle::recall(std::uint32_t number) {
  bytes_ += 'j'; // LONG_BINGET
  little_endian(number, 4);
}

std::string Pickle::take() {
  bytes_ += '.';
  return std::move(bytes_);
}

} // namespace tensorscope::formats
