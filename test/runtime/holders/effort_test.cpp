// SPDX-License-Identifier: Apache-2.0
// What counts against the limits of a report's parts.
#include "report/effort.h"

#include <gtest/gtest.h>

#include <thread>

using namespace std::chrono_literals;
using tensorscope::report::Effort;

TEST(EffortTest, WorkCountsAndWaitingDoesNot) {
  Effort effort(20ms);
  {
    const Effort::Counting counting(effort);
    std::this_thread::sleep_for(60ms);
  }
  EXPECT_FALSE(effort.is_spent());
  const auto begin = Effort::now();
  {
    const Effort::Counting counting(effort);
    while (Effort::now() - begin < 30ms) {
    }
  }
  EXPECT_TRUE(effort.is_spent());
}
