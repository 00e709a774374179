// SPDX-License-Identifier: Apache-2.0
// What is told of code that was compiled in this process. Addresses are made up: nothing reads there.
#include "platform/made_code.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using tensorscope::platform::made_code_at;
using tensorscope::platform::made_variables;

const void* at(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

void add(std::uintptr_t begin, std::size_t size, const char* symbol, std::vector<tensorscope_made_line> lines = {}) {
  tensorscope_add_made_code(at(begin), size, symbol, lines.data(), lines.size());
}

std::string symbol_at(std::uintptr_t address) {
  const auto place = made_code_at(at(address));
  return place ? place->symbol : "nothing";
}

TEST(MadeCode, IsKnownFromItsBeginToItsEnd) {
  add(0x1000, 0x20, "first");
  EXPECT_EQ(symbol_at(0xfff), "nothing");
  EXPECT_EQ(symbol_at(0x1000), "first");
  EXPECT_EQ(symbol_at(0x101f), "first");
  EXPECT_EQ(symbol_at(0x1020), "nothing");
}

TEST(MadeCode, HasTheLineThatBeganLast) {
  add(0x2000, 0x30, "lines", {{at(0x2004), "input", 3, 7}, {at(0x2010), "input", 4, 1}, {at(0x2020), "input", 0, 0}});
  EXPECT_EQ(made_code_at(at(0x2000))->file, "");
  EXPECT_EQ(made_code_at(at(0x200f))->line, 3U);
  EXPECT_EQ(made_code_at(at(0x200f))->column, 7U);
  EXPECT_EQ(made_code_at(at(0x2010))->line, 4U);
  EXPECT_EQ(made_code_at(at(0x2020))->line, 0U);
  EXPECT_EQ(made_code_at(at(0x2020))->file, "");
}

TEST(MadeCode, OfAnAddressGivenAgainIsTheLast) {
  add(0x3000, 0x40, "old");
  add(0x3100, 0x10, "neighbour");
  add(0x3020, 0x40, "new");
  EXPECT_EQ(symbol_at(0x3030), "new");
  EXPECT_EQ(symbol_at(0x3008), "nothing");
  EXPECT_EQ(symbol_at(0x3100), "neighbour");
}

TEST(MadeVariables, AreListedOncePerAddress) {
  tensorscope_add_made_variable(at(0x4000), 8, "old");
  tensorscope_add_made_variable(at(0x4000), 16, "held");
  const auto all = made_variables();
  const auto count = std::count_if(all.begin(), all.end(), [](const auto& one) { return one.begin == 0x4000; });
  ASSERT_EQ(count, 1);
  const auto found = std::find_if(all.begin(), all.end(), [](const auto& one) { return one.begin == 0x4000; });
  EXPECT_EQ(found->end, 0x4010U);
  EXPECT_EQ(found->symbol, "held");
}

} // namespace
