// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's records beside the hooked events, end to end on the simulated CUPTI: what both saw is one, what a library
// took past the hooks is named, and whatever goes wrong with CUPTI the hooked events go on and the program does not
// notice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "analyzer/pipeline/analyze.h"
#include "tests/cupti/simulated_cupti.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr int kRounds = 50;
constexpr uint64_t kKinds = 5;                      // of memory, in a round
constexpr uint64_t kHooked = 1 + kRounds * kKinds;  // allocations
constexpr uint64_t kMiB = 1 << 20;

struct Outcome {
  RunResult run;
  std::vector<Report> reports;                   // of each process, the program's own first
  Report report;                                 // the first of them
  const ReportActivities* activities = nullptr;  // of the first process; null: it has none
};

// both_ways, with CUPTI of the major version; `hidden` rounds of a library's own.
Outcome RunBothWays(const std::string& end, const std::string& faults = "", int major = 13, int hidden = 2,
                    std::map<std::string, std::string> environment = {}, bool preloaded = true) {
  RunOptions options;
  options.traced = preloaded;
  options.environment = std::move(environment);
  options.environment.insert({"VRAMTRACK_CUPTI", "1"});
  options.environment["SIMCUPTI_FAULTS"] = faults;
  options.environment["LD_LIBRARY_PATH"] = SimulatedLibraries(major);
  Outcome outcome;
  const std::string program = end == "other" || end == "detach" ? "both_ways_with_cupti" : "both_ways";
  outcome.run = RunProgram(program, {std::to_string(kRounds), std::to_string(hidden), end}, options);
  EXPECT_EQ(outcome.run.out, end == "fork" ? "child 3\ndone\n" : end == "spawn" ? "done\ndone\n" : "done\n");
  EXPECT_EQ(outcome.run.traces.size(), end == "fork" || end == "spawn" ? 2u : 1u);
  for (const std::string& trace : outcome.run.traces) {
    absl::StatusOr<Report> report = Analyze({trace}, {});
    EXPECT_TRUE(report.ok()) << report.status();
    if (!report.ok()) return outcome;
    outcome.reports.push_back(*std::move(report));
  }
  // The program's own is the one of which no other is the parent.
  std::sort(outcome.reports.begin(), outcome.reports.end(), [](const Report& left, const Report& right) {
    return left.processes[0].pid == right.processes[0].parent_pid;
  });
  if (outcome.reports.empty()) return outcome;
  outcome.report = outcome.reports[0];
  if (outcome.report.processes[0].activities) outcome.activities = &*outcome.report.processes[0].activities;
  return outcome;
}

void ExpectAllJoined(const Outcome& outcome, const std::string& library) {
  ASSERT_NE(outcome.activities, nullptr) << outcome.run.err;
  const ReportActivities& activities = *outcome.activities;
  EXPECT_EQ(activities.records, 2 * kHooked - 1 + 6);
  EXPECT_EQ(activities.dropped, 0u);
  EXPECT_EQ(activities.joined, kHooked);
  EXPECT_EQ(activities.other_sizes, 0u);
  EXPECT_TRUE(activities.only_hooks.empty());
  ASSERT_EQ(activities.only_cupti.size(), 1u);
  EXPECT_EQ(activities.only_cupti[0].library, library);
  EXPECT_EQ(activities.only_cupti[0].kind, "device");
  EXPECT_EQ(activities.only_cupti[0].allocations, 4u);
  EXPECT_EQ(activities.only_cupti[0].bytes, 12 * kMiB);
  EXPECT_EQ(activities.only_cupti[0].live_bytes, 10 * kMiB);
  ASSERT_EQ(outcome.report.devices.size(), 1u);
  ASSERT_EQ(outcome.report.devices[0].only_cupti.size(), 1u);
  EXPECT_EQ(outcome.report.devices[0].only_cupti[0].library, library);
  EXPECT_EQ(outcome.report.devices[0].only_cupti[0].at_end, 10 * kMiB);
  EXPECT_EQ(outcome.report.devices[0].end.live, 13 * kMiB);
}

int Lines(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

TEST(Cupti, MakesOneLedgerWithTheHooks) {
  const Outcome outcome = RunBothWays("exit");
  EXPECT_EQ(outcome.run.err, "");
  EXPECT_TRUE(outcome.report.processes[0].complete);
  ExpectAllJoined(outcome, "libhidden_memory.so");
}

TEST(Cupti, AnOlderReleaseDoesNotSayWhoAsked) {
  const Outcome outcome = RunBothWays("exit", "", 12);
  EXPECT_EQ(outcome.run.err, "");
  ExpectAllJoined(outcome, "");
}

TEST(Cupti, IsThereByInjectionAlone) {
  const Outcome outcome = RunBothWays(
      "exit", "", 13, 2, {{"VRAMTRACK_CUPTI", "0"}, {"CUDA_INJECTION64_PATH", PathOf("CUPTI_LIBRARY")}}, false);
  EXPECT_EQ(outcome.run.err, "");
  ASSERT_NE(outcome.activities, nullptr);
  const ReportActivities& activities = *outcome.activities;
  // The call that led to cuInit had begun before there were hooks: CUPTI alone saw what it gave out.
  EXPECT_EQ(activities.joined, kHooked - 1);
  ASSERT_EQ(activities.only_cupti.size(), 2u);
  EXPECT_EQ(activities.only_cupti[0].library, "libhidden_memory.so");
  EXPECT_EQ(activities.only_cupti[0].live_bytes, 10 * kMiB);
  EXPECT_EQ(activities.only_cupti[1].library, "both_ways");
  EXPECT_EQ(activities.only_cupti[1].live_bytes, 3 * kMiB);
  EXPECT_TRUE(activities.only_hooks.empty());
}

TEST(Cupti, NothingIsLostHoweverTheProcessEnds) {
  for (const char* end : {"_exit", "quick_exit", "exec", "abort", "fork"}) {
    SCOPED_TRACE(end);
    ExpectAllJoined(RunBothWays(end), "libhidden_memory.so");
  }
}

TEST(Cupti, AForkedChildHasNoRecordsAndSaysNothing) {
  const Outcome outcome = RunBothWays("fork");
  EXPECT_EQ(outcome.run.err, "");
  ASSERT_EQ(outcome.reports.size(), 2u);
  EXPECT_FALSE(outcome.reports[1].processes[0].activities);
}

TEST(Cupti, ASpawnedProgramHasItsOwnRecords) {
  const Outcome outcome = RunBothWays("spawn");
  EXPECT_EQ(outcome.run.err, "");
  ExpectAllJoined(outcome, "libhidden_memory.so");
  ASSERT_EQ(outcome.reports.size(), 2u);
  ASSERT_TRUE(outcome.reports[1].processes[0].activities);
  EXPECT_EQ(outcome.reports[1].processes[0].activities->joined, 1 + kKinds);
  EXPECT_TRUE(outcome.reports[1].processes[0].activities->only_hooks.empty());
}

TEST(Cupti, LateBuffersComeInTime) { ExpectAllJoined(RunBothWays("exit", "late"), "libhidden_memory.so"); }

TEST(Cupti, WhatItCannotDoIsOneLineAndTheHooksGoOn) {
  struct Case {
    const char* faults;
    const char* end;
    const char* line;
    std::map<std::string, std::string> environment = {};
  };
  for (const Case& one : {
           Case{"taken", "exit", "another tool may hold it"},
           Case{"newer", "exit", "it is newer than the driver"},
           Case{"permission", "exit", "NVreg_RestrictProfilingToAdminUsers"},
           Case{"call=cuptiActivityEnable:2", "exit", "pools records were refused"},
           Case{"call=cuptiActivityFlushAll", "late", "delivers no more records"},
           Case{"", "exit", "names another tool", {{"CUDA_INJECTION64_PATH", "/opt/libToolsInjection64.so"}}},
           Case{"", "unset", "the program has removed CUDA_INJECTION64_PATH from its environment"},
           Case{"", "exit", "invalid list 'memory,colours'", {{"VRAMTRACK_CUPTI_RECORDS", "memory,colours"}}},
           Case{"", "exit", "VRAMTRACK_CUPTI: invalid value 'yes'", {{"VRAMTRACK_CUPTI", "yes"}}},
       }) {
    SCOPED_TRACE(one.line);
    const Outcome outcome = RunBothWays(one.end, one.faults, 13, 0, one.environment);
    EXPECT_EQ(Lines(outcome.run.err), 1) << outcome.run.err;
    EXPECT_NE(outcome.run.err.find(one.line), std::string::npos) << outcome.run.err;
    EXPECT_NE(outcome.run.err.find("vramtrack: "), std::string::npos);
    const TraceCounts counts = Count(outcome.run.traces[0]);
    EXPECT_EQ(counts.operations.at(schema::ALLOCATE), kHooked);
    EXPECT_EQ(counts.operations.at(schema::FREE), kHooked - 1);
  }
}

TEST(Cupti, WhatItDropsIsCounted) {
  const Outcome outcome = RunBothWays("exit", "drop=3", 13, 0);
  ASSERT_NE(outcome.activities, nullptr);
  EXPECT_EQ(outcome.activities->dropped, (2 * kHooked - 1) / 3);
  EXPECT_EQ(outcome.activities->records + outcome.activities->dropped, 2 * kHooked - 1);
  EXPECT_LT(outcome.activities->joined, kHooked);
  EXPECT_TRUE(outcome.activities->only_cupti.empty());
}

TEST(Cupti, GivesWayToAnotherToolAndSaysForHowLong) {
  for (const char* end : {"other", "detach"}) {
    SCOPED_TRACE(end);
    const Outcome outcome = RunBothWays(end);
    EXPECT_EQ(outcome.run.err, "");
    ASSERT_NE(outcome.activities, nullptr);
    EXPECT_EQ(outcome.activities->records, 2 * kHooked - 1 + 6);
    EXPECT_EQ(outcome.activities->joined, kHooked);
    EXPECT_TRUE(outcome.activities->only_hooks.empty());
    ASSERT_FALSE(outcome.activities->missing.empty());
    EXPECT_NE(outcome.activities->missing.back().why.find("another tool"), std::string::npos);
    EXPECT_GT(outcome.activities->missing.back().to_s, outcome.activities->missing.back().from_s);
    const TraceCounts counts = Count(outcome.run.traces[0]);
    EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 2 * kHooked - 1);
  }
}

TEST(Cupti, ABoundedTraceStaysBounded) {
  constexpr uint64_t kMost = 1 << 20;
  const Outcome outcome = RunBothWays(
      "exit", "", 13, 0,
      {{"VRAMTRACK_MAX_BYTES", std::to_string(kMost)}, {"VRAMTRACK_CUPTI_RECORDS", "memory,pools,copies,fills"}});
  std::ifstream file(outcome.run.traces[0], std::ios::ate);
  EXPECT_LE(static_cast<uint64_t>(file.tellg()), kMost);
  ASSERT_NE(outcome.activities, nullptr);
  EXPECT_EQ(outcome.activities->joined, kHooked);
}

// What the command prints, with one space in place of columns and line ends.
std::string WordsOf(const std::string& command) {
  std::string words;
  FILE* pipe = popen((PathOf("VRAMTRACK_PROGRAM") + " " + command).c_str(), "r");
  if (pipe == nullptr) return words;
  for (int c; (c = fgetc(pipe)) != EOF;) {
    const bool space = c == ' ' || c == '\n';
    if (!space || words.empty() || words.back() != ' ') words += space ? ' ' : static_cast<char>(c);
  }
  EXPECT_EQ(pclose(pipe), 0) << command;
  return words;
}

TEST(Cupti, InfoAndDumpShowItsRecords) {
  const Outcome outcome =
      RunBothWays("exit", "", 13, 0, {{"VRAMTRACK_CUPTI_RECORDS", "memory,pools,kernels,copies,fills"}});
  EXPECT_EQ(outcome.run.err, "");
  const std::string info = WordsOf("info " + outcome.run.traces[0]), dump = WordsOf("dump " + outcome.run.traces[0]);
  EXPECT_NE(info.find("501 memory, 50 memcpy, 50 memset"), std::string::npos) << info;
  for (const char* record :
       {" memory 1 0 4096 0x", " allocated ", " memcpy 0 0 4096 - 1000 ", " memset 0 0 4096 - 1000 "}) {
    EXPECT_NE(dump.find(record), std::string::npos) << record;
  }
}

}  // namespace
}  // namespace vramtrack
