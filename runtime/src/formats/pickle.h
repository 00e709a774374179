// SPDX-License-Identifier: Apache-2.0
// A writer of Python's pickle format, protocol 2, for trees of dictionaries, lists, texts and whole numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tensorscope::formats {

/// Appends one value after the other; the caller brackets them. Whatever stands between begin_list and end_list is a list,
/// and pairs of a text and a value between begin_dictionary and end_dictionary are a dictionary.
class Pickle {
 public:
  Pickle() : bytes_("\x80\x02") {}

  void begin_dictionary() { bytes_ += "}("; }
  void end_dictionary() { bytes_ += 'u'; }
  void begin_list() { bytes_ += "]("; }
  void end_list() { bytes_ += 'e'; }
  void number(std::uint64_t value);
  void flag(bool value) { bytes_ += value ? '\x88' : '\x89'; }
  /// Must be UTF-8. The same text again is a reference to the first.
  void text(std::string_view value);

  void key(std::string_view name) { text(name); }

  /// Keeps the value that was written last for later, under the number that it gives back.
  std::uint32_t remember();
  void recall(std::uint32_t number);

  /// The pickle, whole. Nothing may be appended any more.
  std::string take();

 private:
  void little_endian(std::uint64_t value, int bytes);

  std::string bytes_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::uint32_t remembered_ = 0;
};

} // namespace tensorscope::formats
