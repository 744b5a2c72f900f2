// SPDX-License-Identifier: Apache-2.0
//
// The arrays of a plugin of XLA are in the trace: each once, with its device and bytes, from its making to its end.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/pipeline/analyze.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

std::string PathOf(const std::string& library) {
  char here[4096];
  return std::string(getcwd(here, sizeof here)) + "/" + getenv("PROGRAMS") + "/" + library;
}

// The untraced program says the same.
RunResult UseOf(const std::string& plugin, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {PathOf(plugin)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  RunOptions untraced;
  untraced.traced = false;
  EXPECT_EQ(RunProgram("use_pjrt", arguments, untraced).out, "fine\n");
  RunResult run = RunProgram("use_pjrt", arguments, {});
  EXPECT_EQ(run.wait_status, 0) << run.err;
  EXPECT_EQ(run.out, "fine\n") << run.err;
  EXPECT_EQ(run.traces.size(), 1u) << run.err;
  return run;
}

struct Arrays {
  std::map<uint64_t, uint64_t> made, ended, failed;  // numbers by bytes
};

Arrays ArraysIn(const std::string& path) {
  Arrays arrays;
  auto trace = Trace::Open(path);
  EXPECT_TRUE(trace.ok()) << trace.status();
  std::map<AllocationName, uint64_t> live;
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    EXPECT_NE(event.operation, schema::FREE_UNKNOWN);
    if (event.shape->kind != schema::FRAMEWORK_BLOCK) continue;
    if (event.operation == schema::ALLOCATE) {
      EXPECT_NE(event.shape->ref, 0u) << "without a stack";
      EXPECT_EQ(event.shape->device, 0u);
      ++arrays.made[event.shape->bytes];
      live[{event.owner, event.ordinal}] = event.shape->bytes;
    } else if (event.operation == schema::FREE) {
      const auto found = live.find({event.owner, event.ordinal});
      EXPECT_NE(found, live.end());
      if (found == live.end()) continue;
      ++arrays.ended[found->second];
      live.erase(found);
    } else if (event.operation == schema::FAIL) {
      ++arrays.failed[event.shape->bytes];
    }
  }
  return arrays;
}

// Weights, batches and results; 5,120 bytes are what an execution needs besides, in whole units.
TEST(Pjrt, ArraysAreRecorded) {
  const RunResult run = UseOf("libpjrt_cuda_plugin.so", {"threads"});
  ASSERT_EQ(run.traces.size(), 1u);
  const Arrays arrays = ArraysIn(run.traces[0]);
  EXPECT_EQ(arrays.made, (std::map<uint64_t, uint64_t>{{4096, 78}, {1000, 136}, {5120, 68}}));
  EXPECT_EQ(arrays.ended, (std::map<uint64_t, uint64_t>{{4096, 78}, {1000, 76}, {5120, 68}}));
  EXPECT_EQ(arrays.failed, (std::map<uint64_t, uint64_t>{{uint64_t{512} << 20, 1}}));
}

TEST(Pjrt, ReportNamesTheLeakAndAddsUp) {
  const RunResult run = UseOf("libpjrt_cuda_plugin.so");
  ASSERT_EQ(run.traces.size(), 1u);
  const auto report = Analyze({run.traces[0]}, {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->steps.name, "train_step");
  ASSERT_EQ(report->ranking.size(), 1u);
  const ReportSite& leak = report->sites.at(report->ranking[0].value());
  EXPECT_EQ(leak.rate_bytes_per_step, 1000);
  EXPECT_EQ(leak.rate_objects_per_step, 1);
  ASSERT_EQ(report->devices.size(), 1u);
  const ReportDevice& device = report->devices[0];
  ASSERT_TRUE(device.peak.framework);
  const ReportFrameworkShare& share = *device.peak.framework;
  // All arrays lie in the pool.
  EXPECT_EQ(device.peak.device_used, uint64_t{256} << 20);
  EXPECT_EQ(device.peak.live + share.cached + share.others + share.overhead + share.unattributed,
            device.peak.device_used);
  ASSERT_EQ(device.other_owners.size(), 1u);
  EXPECT_EQ(device.other_owners[0].second, device.peak.device_used - device.peak.live);
  EXPECT_FALSE(device.fragmentation.refused.empty());
  EXPECT_TRUE(report->reasons.empty()) << report->reasons[0].text;
  ASSERT_TRUE(device.growth);
  EXPECT_FALSE(device.growth->steps_to_oom) << "how much the pool may take is not known";
}

// A table that ends before the functions that newer versions added: the copies are not all seen.
TEST(Pjrt, OlderPluginsHaveShorterTables) {
  const RunResult run = UseOf("libpjrt_cuda_plugin_old.so");
  ASSERT_EQ(run.traces.size(), 1u);
  const Arrays arrays = ArraysIn(run.traces[0]);
  EXPECT_EQ(arrays.made, (std::map<uint64_t, uint64_t>{{4096, 62}, {1000, 120}}));
  EXPECT_EQ(arrays.ended, (std::map<uint64_t, uint64_t>{{4096, 62}, {1000, 60}}));
}

TEST(Pjrt, OtherTablesAreLeftAlone) {
  for (const char* plugin : {"libpjrt_cuda_plugin_next.so", "libpjrt_tpu.so"}) {
    SCOPED_TRACE(plugin);
    const RunResult run = UseOf(plugin);
    ASSERT_EQ(run.traces.size(), 1u);
    EXPECT_TRUE(ArraysIn(run.traces[0]).made.empty());
  }
}

}  // namespace
}  // namespace vramtrack
