// SPDX-License-Identifier: Apache-2.0
// From return addresses to functions, files and lines, inlined calls included. Slow: used when a report or an error is
// worded, never while a program works.
#pragma once

#include "core/sites.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tensorscope::report {

/// One function that was running; several stand for one address where calls were inlined.
struct SourceFrame {
  std::string function; ///< with its parameters; empty if the program has no symbol for it
  std::string file;     ///< empty without debug information
  unsigned line = 0;
  unsigned column = 0;
  std::string library;  ///< base name of the executable or shared library
  bool users = false;   ///< neither LibTorch's nor the system's nor ours
};

/// Reads the debug information of the running program. Each address is looked up once. Not thread-safe.
class Symbolizer {
 public:
  Symbolizer();
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  /// The frames of one return address, the innermost inlined one first. Never empty.
  const std::vector<SourceFrame>& frames_at(void* return_address);

  /// All frames of a stack, the innermost first.
  std::vector<const SourceFrame*> frames_of(const core::Stack& stack);

 private:
  struct Libdw;
  std::unique_ptr<Libdw> libdw_;
  std::unordered_map<void*, std::vector<SourceFrame>> known_;
};

/// Whether an executable or library of this base name is LibTorch's, ours or the system's.
bool is_system_library(std::string_view name);

/// "function file:line:column", or what is known of it.
std::string to_string(const SourceFrame& frame);

} // namespace tensorscope::report
