// SPDX-License-Identifier: Apache-2.0
//
// A worker's end, however it comes, is its own file's affair.
#include "tool/WorkerPool.h"
#include <csignal>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

using namespace tensorscope;

static FileReport named(size_t Index) {
  FileReport Report;
  Report.File = std::to_string(Index);
  Report.Status = FileStatus::Analyzed;
  return Report;
}

static std::vector<FileReport>
run(size_t Count, unsigned Jobs, std::function<FileReport(size_t)> Check) {
  return runInWorkers(Count, Jobs, Check, [](size_t, FileReport &) {});
}

TEST(WorkerPoolTest, ReportsComeInOrderWhateverTheNumberOfJobs) {
  for (unsigned Jobs : {1u, 3u, 32u}) {
    std::vector<FileReport> Reports = run(17, Jobs, [](size_t I) {
      usleep((17 - I) * 500); // the last ones end first
      return named(I);
    });
    ASSERT_EQ(Reports.size(), 17u);
    for (size_t I = 0; I < Reports.size(); ++I)
      EXPECT_EQ(Reports[I].File, std::to_string(I));
  }
}

TEST(WorkerPoolTest, EachIsDoneOnce) {
  std::multiset<size_t> Done;
  runInWorkers(
      7, 2, named, [&](size_t I, FileReport &Report) {
        EXPECT_EQ(Report.File, std::to_string(I));
        Done.insert(I);
      });
  EXPECT_EQ(Done, (std::multiset<size_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(WorkerPoolTest, ACrashFailsOneFileAlone) {
  std::vector<FileReport> Reports = run(3, 2, [](size_t I) {
    if (I == 1)
      raise(SIGSEGV);
    return named(I);
  });
  EXPECT_EQ(Reports[0].Status, FileStatus::Analyzed);
  EXPECT_EQ(Reports[1].Status, FileStatus::Failed);
  EXPECT_EQ(Reports[1].Reason.Message,
            "the parser crashed (Segmentation fault)");
  EXPECT_EQ(Reports[2].Status, FileStatus::Analyzed);
}

TEST(WorkerPoolTest, BeingKilledIsSaidWithWhatToDo) {
  FileReport Report = run(1, 1, [](size_t I) {
    raise(SIGKILL);
    return named(I);
  })[0];
  EXPECT_EQ(Report.Reason.Message, "the parser was killed; if memory ran out, "
                                   "use fewer --jobs");
}

TEST(WorkerPoolTest, AnEndWithoutAReportIsAFailure) {
  FileReport Report = run(1, 1, [](size_t I) {
    _exit(0);
    return named(I);
  })[0];
  EXPECT_EQ(Report.Status, FileStatus::Failed);
  EXPECT_EQ(Report.Reason.Message, "the parser ended without a result");
}

TEST(WorkerPoolTest, AReportLargerThanAPipeArrives) {
  FileReport Report = run(1, 1, [](size_t I) {
    FileReport Large = named(I);
    Large.FunctionsNotAnalyzed.assign(40000, "void function_with_a_name()");
    return Large;
  })[0];
  EXPECT_EQ(Report.FunctionsNotAnalyzed.size(), 40000u);
}

TEST(WorkerPoolTest, NothingToDoIsDoneAtOnce) {
  EXPECT_TRUE(run(0, 4, named).empty());
}

TEST(WorkerPoolTest, ThereIsAlwaysOneJob) { EXPECT_GE(defaultJobs(), 1u); }
