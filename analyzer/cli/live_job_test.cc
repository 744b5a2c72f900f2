// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/live_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "analyzer/cli/fatal_end.h"
#include "analyzer/pipeline/testing/running_trace.h"

namespace vramtrack {
namespace {

TEST(LiveJob, GoesOnAfterATraceIsTruncatedWhileItIsRead) {
  InstallFatalEnds();
  RunningTrace running;
  for (int step = 0; step < 1000; ++step) {
    for (uint32_t i = 0; i < 50; ++i) running.job.Free(running.job.Block(10 + i, 1 << 20));
    running.job.Block(90, 64 << 10);
    running.job.Pass(10'000'000);  // 10 ms
    running.job.EndStep();
  }
  running.Write();
  const uint64_t bytes = std::filesystem::file_size(running.path());
  LiveJob job(running.path(), {});
  ASSERT_TRUE(job.Find().ok());
  const LiveJob::Look whole = job.Read();
  ASSERT_TRUE(whole.report.ok()) << whole.report.status();
  EXPECT_EQ(whole.report->steps.count, 990u);  // the newest tenth of a second is left out
  for (int round = 0; round < 40; ++round) {
    // At another moment of a look each time.
    std::thread truncates([&running, &whole, round] {
      std::this_thread::sleep_for(std::chrono::duration<double>(whole.seconds * round / 40));
      std::filesystem::resize_file(running.path(), 4096);
    });
    LiveJob other(running.path(), {});
    ASSERT_TRUE(other.Find().ok());
    const LiveJob::Look look = other.Read();
    truncates.join();
    if (!look.report.ok()) {
      EXPECT_THAT(std::string(look.report.status().message()), testing::HasSubstr("job.vtrace: "));
    } else {
      EXPECT_LE(look.report->steps.count, 990u);
    }
    std::filesystem::resize_file(running.path(), bytes);
    running.Write();
  }
  const LiveJob::Look again = job.Read();
  ASSERT_TRUE(again.report.ok()) << again.report.status();
  EXPECT_EQ(again.report->steps.count, 990u);
}

}  // namespace
}  // namespace vramtrack
