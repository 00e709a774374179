// SPDX-License-Identifier: Apache-2.0
// Two maps by address, under a lock that no operator takes.
#include "platform/made_code.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

namespace tensorscope::platform {
namespace {

struct Line {
  std::uintptr_t begin;
  std::string file;
  unsigned line;
  unsigned column;
};

struct Function {
  std::uintptr_t end;
  std::string symbol;
  std::vector<Line> lines;
};

struct Made {
  std::mutex mutex;
  std::map<std::uintptr_t, Function> functions;
  std::map<std::uintptr_t, MadeVariable> variables;
};

/// Never destroyed: reports are made during exit.
Made& made() {
  static auto* const all = new Made;
  return *all;
}

constinit std::atomic<bool> any_code{false};

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// Memory that was given back and given again: what lay there is gone.
template <class Map, class End>
void make_room(Map& map, std::uintptr_t begin, std::uintptr_t end, End end_of) {
  auto next = map.lower_bound(begin);
  if (next != map.begin() && end_of(std::prev(next)->second) > begin) {
    --next;
  }
  while (next != map.end() && next->first < end) {
    next = map.erase(next);
  }
}

} // namespace

bool has_made_code() noexcept { return any_code.load(std::memory_order_relaxed); }

std::optional<MadePlace> made_code_at(const void* address) {
  if (!has_made_code()) {
    return std::nullopt;
  }
  const std::lock_guard lock(made().mutex);
  const auto& functions = made().functions;
  auto after = functions.upper_bound(number(address));
  if (after == functions.begin() || number(address) >= (--after)->second.end) {
    return std::nullopt;
  }
  const Function& function = after->second;
  MadePlace place{function.symbol, {}, 0, 0};
  auto line = std::upper_bound(function.lines.begin(), function.lines.end(), number(address),
                               [](std::uintptr_t wanted, const Line& one) { return wanted < one.begin; });
  if (line != function.lines.begin() && (--line)->line != 0) {
    place.file = line->file;
    place.line = line->line;
    place.column = line->column;
  }
  return place;
}

std::vector<MadeVariable> made_variables() {
  std::vector<MadeVariable> all;
  if (has_made_code()) {
    const std::lock_guard lock(made().mutex);
    for (const auto& [begin, variable] : made().variables) {
      all.push_back(variable);
    }
  }
  return all;
}

} // namespace tensorscope::platform

using namespace tensorscope::platform;

void tensorscope_add_made_code(const void* begin, std::size_t size, const char* symbol, const tensorscope_made_line* lines,
                               std::size_t line_count) noexcept {
  try {
    Function function{number(begin) + size, symbol, {}};
    for (std::size_t i = 0; i < line_count; ++i) {
      function.lines.push_back({number(lines[i].begin), lines[i].file, lines[i].line, lines[i].column});
    }
    const std::lock_guard lock(made().mutex);
    make_room(made().functions, number(begin), function.end, [](const Function& one) { return one.end; });
    made().functions.insert_or_assign(number(begin), std::move(function));
    any_code.store(true, std::memory_order_relaxed);
  } catch (...) {
    // Memory is short: the report says "unknown code".
  }
}

void tensorscope_add_made_variable(const void* begin, std::size_t size, const char* symbol) noexcept {
  try {
    MadeVariable variable{number(begin), number(begin) + size, symbol};
    const std::lock_guard lock(made().mutex);
    make_room(made().variables, variable.begin, variable.end, [](const MadeVariable& one) { return one.end; });
    made().variables.insert_or_assign(number(begin), std::move(variable));
    any_code.store(true, std::memory_order_relaxed);
  } catch (...) {
    // Memory is short: what it holds counts as held by something else.
  }
}
