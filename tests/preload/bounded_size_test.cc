// SPDX-License-Identifier: Apache-2.0
//
// VRAMTRACK_MAX_BYTES: the file stays below it for a run of any length, and what each site did is known as exactly as
// from a trace without it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>

#include "analyzer/model/answer.h"
#include "analyzer/pipeline/analyze.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr uint64_t kCap = 704 << 10;

struct SiteFigures {
  uint64_t allocations = 0, frees = 0, bytes_allocated = 0, live_objects = 0, live_bytes = 0;
  bool operator==(const SiteFigures& other) const {
    return allocations == other.allocations && frees == other.frees && bytes_allocated == other.bytes_allocated &&
           live_objects == other.live_objects && live_bytes == other.live_bytes;
  }
};

std::ostream& operator<<(std::ostream& out, const SiteFigures& site) {
  return out << site.allocations << " allocations, " << site.frees << " frees, " << site.bytes_allocated
             << " bytes, live " << site.live_objects << " with " << site.live_bytes;
}

Report Analyzed(const std::string& path) {
  AnalyzeOptions options;
  options.top = 10000;
  absl::StatusOr<Report> report = Analyze({path}, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

// By the site's functions.
std::map<std::string, SiteFigures> Figures(const Report& report) {
  std::map<std::string, SiteFigures> figures;
  for (const ReportSite& site : report.sites) {
    std::string name = site.kind;
    for (const ReportFrame& frame : site.frames) name += " " + frame.function + ":" + std::to_string(frame.line);
    SiteFigures& of = figures[name];
    of.allocations += site.allocations;
    of.frees += site.frees;
    of.bytes_allocated += site.bytes_allocated;
    of.live_objects += site.live_objects;
    of.live_bytes += site.live_bytes;
  }
  return figures;
}

const ReportSite* LeakOf(const Report& report) {
  for (const ReportSite& site : report.sites) {
    for (const ReportFrame& frame : site.frames) {
      if (frame.function.find("Leak") != std::string::npos) return &site;
    }
  }
  return nullptr;
}

uint64_t FileBytes(const std::string& path) {
  struct stat status;
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return static_cast<uint64_t>(status.st_size);
}

std::string TraceOf(const std::string& seed, const std::string& steps, uint64_t cap) {
  RunOptions options;
  if (cap != 0) options.environment["VRAMTRACK_MAX_BYTES"] = std::to_string(cap);
  const RunResult run = RunProgram("seeded_job", {seed, steps}, options);
  EXPECT_EQ(run.wait_status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.traces.size(), 1u);
  return run.traces.empty() ? "" : run.traces[0];
}

TEST(BoundedSizeTest, EverySiteIsKnownAsExactlyAsFromAFullTrace) {
  for (const std::string seed : {"1", "2", "3"}) {
    SCOPED_TRACE(seed);
    const std::string full = TraceOf(seed, "5000", 0), bounded = TraceOf(seed, "5000", kCap);
    EXPECT_GT(FileBytes(full), kCap);
    EXPECT_LE(FileBytes(bounded), kCap);
    const Report whole = Analyzed(full), folded = Analyzed(bounded);
    EXPECT_EQ(Figures(folded), Figures(whole));
    ASSERT_EQ(folded.processes.size(), 1u);
    EXPECT_TRUE(folded.processes[0].complete) << folded.processes[0].incomplete_why;
    EXPECT_EQ(folded.processes[0].lost_events, 0u);
    EXPECT_EQ(folded.processes[0].events, whole.processes[0].events);
    EXPECT_EQ(folded.steps.count, whole.steps.count);
    ASSERT_EQ(folded.devices.size(), whole.devices.size());
  }
}

TEST(BoundedSizeTest, ALeakIsFoundWithItsRateInARunTwentyTimesAsLongAsTheCapHolds) {
  const std::string bounded = TraceOf("7", "62000", kCap);
  EXPECT_LE(FileBytes(bounded), kCap);
  auto trace = Trace::Open(bounded);
  ASSERT_TRUE(trace.ok());
  EXPECT_GT((*trace)->events() * 7 / 2, 20 * kCap) << "at 3.5 bytes an event";
  const Report report = Analyzed(bounded);
  EXPECT_EQ(report.steps.count, 62000u);
  ASSERT_FALSE(report.ranking.empty());
  const ReportSite* leak = LeakOf(report);
  ASSERT_NE(leak, nullptr);
  EXPECT_EQ(FindSite(report, report.ranking[0]), leak);
  EXPECT_EQ(report.ranking.size(), 1u);
  EXPECT_EQ(leak->verdict, Verdict::kLeak);
  EXPECT_NEAR(leak->rate_bytes_per_step, 512, 512 * 0.03);
  EXPECT_EQ(leak->live_objects, 7750u);
}

}  // namespace
}  // namespace vramtrack
