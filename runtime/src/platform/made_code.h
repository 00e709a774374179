// SPDX-License-Identifier: Apache-2.0
// Code and variables that a compiler made in this process, which no file has: told by whoever runs that compiler
// (`tensorscope repl`), asked by the report. Nothing is forgotten: an address that was given again has its last meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

extern "C" {
/// From `begin` on the code is of that place, up to where the next one begins. Line 0: of none.
struct tensorscope_made_line {
  const void* begin;
  const char* file;
  unsigned line;
  unsigned column;
};

/// A function, by its symbol; `lines` in the order of their addresses. All is copied. Any thread may call.
__attribute__((visibility("default"))) void tensorscope_add_made_code(const void* begin, std::size_t size, const char* symbol,
                                                                      const tensorscope_made_line* lines,
                                                                      std::size_t line_count) noexcept;
/// A variable of static storage duration.
__attribute__((visibility("default"))) void tensorscope_add_made_variable(const void* begin, std::size_t size,
                                                                          const char* symbol) noexcept;
}

namespace tensorscope::platform {

struct MadePlace {
  std::string symbol;
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

/// Whether any was told; the quick question.
bool has_made_code() noexcept;

/// What is known of the code at `address`.
std::optional<MadePlace> made_code_at(const void* address);

struct MadeVariable {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::string symbol;
};

std::vector<MadeVariable> made_variables();

} // namespace tensorscope::platform
