// SPDX-License-Identifier: Apache-2.0
// Figures and reports.
#include "torch_test.h"

#include <tensorscope/tensorscope.h>

#include <fstream>

namespace {

using tensorscope::with_torch;
using torch::Tensor;

TEST(StatsTest, BytesAreThoseAskedFor) {
  const auto before = tensorscope::stats().total();
  {
    const auto odd = torch::ones({7}, torch::kByte);
    const auto large = torch::ones({300, 1000});
    const auto during = tensorscope::stats().total();
    EXPECT_EQ(during.live - before.live, 2u);
    EXPECT_EQ(during.bytes - before.bytes, 7u + 1'200'000u);
    EXPECT_GE(during.peak, during.bytes - before.bytes);
  }
  const auto after = tensorscope::stats().total();
  EXPECT_EQ(after.live, before.live);
  EXPECT_EQ(after.bytes, before.bytes);
}

TEST(StatsTest, EverySizeIsCountedOutAsItWasCountedIn) {
  const auto before = tensorscope::stats().total();
  std::vector<Tensor> kept;
  std::uint64_t bytes = 0;
  for (std::int64_t size = 1; size < 400; ++size) {
    kept.push_back(torch::ones({size}, torch::kByte));
    bytes += static_cast<std::uint64_t>(size);
    if (size % 3 == 0) {
      bytes -= kept.front().nbytes();
      kept.erase(kept.begin());
    }
  }
  EXPECT_EQ(tensorscope::stats().total().bytes - before.bytes, bytes);
  kept.clear();
  EXPECT_EQ(tensorscope::stats().total().bytes, before.bytes);
  EXPECT_EQ(tensorscope::stats().total().live, before.live);
}

TEST(StatsTest, BytesFreedOnAnotherThreadAreTakenOff) {
  const auto before = tensorscope::stats().total();
  auto tensor = torch::ones({1000});
  std::thread([moved = std::move(tensor)]() mutable { moved.reset(); }).join();
  EXPECT_EQ(tensorscope::stats().total().bytes, before.bytes);
}

TEST(StatsTest, ThreadsHaveEntriesOfTheirOwn) {
  Tensor made;
  std::thread([&] { made = torch::ones({1000}); }).join();
  const auto all = tensorscope::stats();
  std::set<std::uint64_t> threads;
  for (const auto& entry : all.threads) {
    threads.insert(entry.thread);
  }
  EXPECT_EQ(threads.size(), all.threads.size());
  EXPECT_TRUE(std::any_of(all.threads.begin(), all.threads.end(),
                          [](const auto& entry) { return entry.thread != 0 && entry.bytes >= 4000; }));
}

TEST(StatsTest, EachWayOutOfAScopeIsCounted) {
  auto weight = torch::ones({2}, torch::requires_grad());
  Tensor escaped;
  Tensor retained;
  const auto before = tensorscope::stats().total();
  const auto result = with_torch([&] {
    escaped = torch::ones({2});
    retained = tensorscope::retain(torch::ones({2}));
    return (weight * 2).exp();
  });
  const auto after = tensorscope::stats().total();
  EXPECT_EQ(after.released - before.released, 1u);
  EXPECT_EQ(after.escaped - before.escaped, 1u);
  EXPECT_EQ(after.retained - before.retained, 1u);
  EXPECT_EQ(after.returned - before.returned, 1u);
  EXPECT_GE(after.created - before.created, 4u);
}

TEST(StatsTest, WhatALossKeepsAliveIsCountedWithItsBytes) {
  auto weight = torch::ones({1000}, torch::requires_grad());
  const auto before = tensorscope::stats().total();
  const auto loss = with_torch([&] { return (weight * 2).exp().sum(); });
  const auto after = tensorscope::stats().total();
  EXPECT_GE(after.graph - before.graph, 1u);
  EXPECT_GE(after.graph_bytes - before.graph_bytes, 4000u);
}

TEST(CheckLeaksTest, NamesWhatIsOwnedAndWhatIsRetained) {
  Tensor retained;
  with_torch([&] {
    const auto small = torch::ones({2});
    const auto large = torch::zeros({5, 100});
    const auto view = large.view({500});
    retained = tensorscope::retain(torch::ones({3}));
    const auto report = tensorscope::check_leaks();
    ASSERT_EQ(report.storages.size(), 3u);
    EXPECT_EQ(report.storages[0].bytes, 2000u);
    EXPECT_EQ(report.storages[0].handles, 2u);
    EXPECT_NE(report.storages[0].name.find("[5, 100]"), std::string::npos) << report.storages[0].name;
    EXPECT_EQ(report.storages[1].bytes, 12u);
    EXPECT_FALSE(report.storages[1].owned);
    EXPECT_EQ(report.bytes, 2000u + 12u + 8u);
    const auto text = report.text();
    EXPECT_NE(text.find("figures_test.cpp"), std::string::npos) << text;
    EXPECT_NE(text.find("SUMMARY: tensorscope: 2020 byte(s) live in 3 storage(s)"), std::string::npos) << text;
  });
  EXPECT_TRUE(tensorscope::check_leaks().storages.empty());
}

TEST(CheckLeaksTest, ADeadTensorIsNotNamed) {
  with_torch([&] {
    torch::ones({2});
    EXPECT_TRUE(tensorscope::check_leaks().storages.empty());
  });
}

TEST(ExpectNoLeaksTest, HoldsForCodeThatKeepsNothing) {
  EXPECT_TRUE(tensorscope::expect_no_leaks([] { torch::ones({8}).exp(); }));
}

TEST(ExpectNoLeaksTest, FailsForCodeThatKeepsOneTensorEachTime) {
  std::vector<Tensor> kept;
  const auto check = tensorscope::expect_no_leaks([&] { kept.push_back(torch::ones({250})); }, {.warmup = 2});
  EXPECT_FALSE(check);
  EXPECT_EQ(kept.size(), 3u);
  EXPECT_EQ(check.storages, 1);
  EXPECT_EQ(check.bytes, 1000);
  std::ostringstream text;
  text << check;
  EXPECT_EQ(text.str(),
            "the code kept 1 storage with 1000 bytes more than it found\n  to see where they were made: "
            "TENSORSCOPE_OPTIONS=level=full, or link tensorscope::debug");
}

TEST(ExpectNoLeaksTest, AnExceptionGoesThrough) {
  EXPECT_THROW(tensorscope::expect_no_leaks([] { throw std::runtime_error("of the code"); }), std::runtime_error);
}

TEST(ExpectNoLeaksTest, WithoutAWarmUpTheFirstRunCounts) {
  Tensor cache;
  int runs = 0;
  const auto check = tensorscope::expect_no_leaks(
      [&] {
        ++runs;
        cache = torch::ones({8});
      },
      {.warmup = -3});
  EXPECT_FALSE(check);
  EXPECT_EQ(runs, 1);
}

// Runs in a process with level=full.
TEST(ExpectNoLeaksAtLevelFullTest, TheMessageNamesThePlacesTheLargestFirst) {
  ASSERT_EQ(tensorscope::options().level, tensorscope::Level::full) << "start with TENSORSCOPE_OPTIONS";
  std::vector<Tensor> kept;
  Tensor replaced;
  const auto check = tensorscope::expect_no_leaks([&] {
    replaced = torch::ones({1000});
    kept.push_back(torch::ones({2}));
    kept.push_back(torch::zeros({250}));
    kept.push_back(torch::zeros({250}));
  });
  EXPECT_FALSE(check);
  EXPECT_EQ(check.storages, 3);
  ASSERT_EQ(check.places.size(), 3u) << check;
  EXPECT_EQ(check.places[0].made_by, "aten::zeros Float [250] on cpu");
  EXPECT_EQ(check.places[0].bytes, 1000);
  EXPECT_EQ(check.places[2].made_by, "aten::ones Float [2] on cpu");
  EXPECT_EQ(check.places[2].bytes, 8);
  EXPECT_EQ(check.message().find("[1000]"), std::string::npos) << check;
  EXPECT_NE(check.message().find("\n  1000 bytes in 1 tensor of aten::zeros Float [250] on cpu\n    #0 "),
            std::string::npos) << check;
}

TEST(ExpectNoLeaksAtLevelFullTest, NothingIsNamedWhereNothingIsKept) {
  const auto check = tensorscope::expect_no_leaks([] { torch::ones({8}).exp(); });
  EXPECT_TRUE(check);
  EXPECT_TRUE(check.places.empty());
  EXPECT_EQ(check.message(), "no leak: 0 storages, 0 bytes");
}

TEST(ExpectNoLeaksTest, ACacheThatFillsInTheWarmUpIsNone) {
  Tensor cache;
  EXPECT_TRUE(tensorscope::expect_no_leaks([&] {
    if (!cache.defined()) {
      cache = torch::ones({8});
    }
  }));
}

TEST(GcTest, SaysWhatIsLiveAndReleasesNothing) {
  Tensor outer;
  with_torch([&] {
    outer = torch::ones({1000});
    const auto found = tensorscope::gc();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].device, c10::DeviceType::CPU);
    EXPECT_GE(found[0].bytes, 4000u);
    EXPECT_GE(found[0].live, 1u);
    EXPECT_EQ(outer.sum().item<double>(), 1000);
  });
}

} // namespace
