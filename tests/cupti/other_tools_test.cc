// SPDX-License-Identifier: Apache-2.0
//
// Other tools that use CUPTI in the same process: each gets all that it asked for and nothing else, vramtrack says in
// the report or in one line from when on it has no records, and the hooked events go on.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>

#include "analyzer/pipeline/analyze.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr uint64_t kRounds = 40;

std::string PathOf(const char* variable) { return std::filesystem::canonical(getenv(variable)); }

// A folder with both versions of CUPTI by all names that are looked for, so that none of the machine's is found.
std::string FolderOfCupti() {
  const std::string folder = std::string(getenv("TEST_TMPDIR")) + "/cupti";
  std::filesystem::create_directories(folder);
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"}) {
    const bool newest = name[strlen(name) - 1] == '3';
    std::filesystem::remove(folder + "/" + name);
    std::filesystem::create_symlink(PathOf(newest ? "SIMCUPTI_13" : "SIMCUPTI_12"), folder + "/" + name);
  }
  return folder;
}

struct Outcome {
  RunResult run;
  Report report;
  ReportActivities activities;
  bool has_activities = false;
};

Outcome RunBeside(const std::string& program, const std::vector<std::string>& arguments,
                  const std::string& faults = "") {
  RunOptions options;
  options.environment["VRAMTRACK_CUPTI"] = "1";
  options.environment["SIMCUPTI_FAULTS"] = faults;
  const std::string runtime = PathOf("SIMCUDA");
  options.environment["LD_LIBRARY_PATH"] = runtime.substr(0, runtime.rfind('/')) + ":" + FolderOfCupti();
  Outcome outcome;
  outcome.run = RunProgram(program, arguments, options);
  EXPECT_EQ(outcome.run.wait_status, 0);
  EXPECT_EQ(outcome.run.traces.size(), 1u);
  if (outcome.run.traces.empty()) return outcome;
  absl::StatusOr<Report> report = Analyze(outcome.run.traces, {});
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok()) return outcome;
  outcome.report = *std::move(report);
  if (outcome.report.processes[0].activities) {
    outcome.activities = *outcome.report.processes[0].activities;
    outcome.has_activities = true;
  }
  return outcome;
}

void ExpectHooks(const Outcome& outcome, uint64_t rounds) {
  const TraceCounts counts = Count(outcome.run.traces[0]);
  EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 2 * rounds);
  EXPECT_EQ(counts.operations.at(schema::FREE), rounds);
}

void ExpectOneLine(const Outcome& outcome, const std::string& part) {
  EXPECT_EQ(std::count(outcome.run.err.begin(), outcome.run.err.end(), '\n'), 1) << outcome.run.err;
  EXPECT_NE(outcome.run.err.find(part), std::string::npos) << outcome.run.err;
}

// Half of the rounds are joined, and the rest is named as missing.
void ExpectGaveWay(const Outcome& outcome) {
  ExpectHooks(outcome, kRounds);
  ASSERT_TRUE(outcome.has_activities) << outcome.run.err;
  EXPECT_EQ(outcome.activities.joined, kRounds);
  EXPECT_TRUE(outcome.activities.only_cupti.empty());
  EXPECT_TRUE(outcome.activities.only_hooks.empty());
  ASSERT_EQ(outcome.activities.missing.size(), 1u);
  EXPECT_GT(outcome.activities.missing[0].to_s, outcome.activities.missing[0].from_s);
}

std::string Fills(uint64_t count) { return std::to_string(count) + " fills, 0 others, 0 strange buffers\n"; }

TEST(OtherTools, OneThatStartsLaterGetsTheRecords) {
  for (const char* program : {"profiles_itself", "looks_cupti_up"}) {
    SCOPED_TRACE(program);
    const Outcome outcome = RunBeside(program, {"later", std::to_string(kRounds)});
    EXPECT_EQ(outcome.run.out, Fills(kRounds / 2));
    EXPECT_EQ(outcome.run.err, "");
    ExpectGaveWay(outcome);
  }
}

TEST(OtherTools, OneWithATableOfFunctionsGetsTheRecords) {
  for (const char* how : {"table", "own"}) {
    SCOPED_TRACE(how);
    const Outcome outcome = RunBeside("profiles_itself", {"later", std::to_string(kRounds), how});
    EXPECT_EQ(outcome.run.out, (strcmp(how, "own") == 0 ? "own\n" : "") + Fills(kRounds / 2));
    EXPECT_EQ(outcome.run.err, "");
    ExpectGaveWay(outcome);
  }
}

TEST(OtherTools, OneThatLookedCuptiUpBeforeIsSeenAllTheSame) {
  const Outcome outcome = RunBeside("looks_cupti_up", {"asked_first", std::to_string(kRounds)});
  EXPECT_EQ(outcome.run.out, Fills(kRounds / 2));
  EXPECT_EQ(outcome.run.err, "");
  ExpectGaveWay(outcome);
}

TEST(OtherTools, OneThatIsThereAlreadyKeepsItsRecords) {
  for (const char* program : {"profiles_itself", "looks_cupti_up"}) {
    SCOPED_TRACE(program);
    const Outcome outcome = RunBeside(program, {"first", std::to_string(kRounds)});
    EXPECT_EQ(outcome.run.out, Fills(kRounds));
    ExpectOneLine(outcome, "no CUPTI: another tool asked CUPTI for its records; API hooks keep recording");
    ExpectHooks(outcome, kRounds);
    EXPECT_FALSE(outcome.has_activities);
  }
}

TEST(OtherTools, ASubscriberDoesNotMind) {
  const Outcome outcome = RunBeside("profiles_itself", {"subscribed", std::to_string(kRounds)});
  EXPECT_EQ(outcome.run.out, "0\n39\n");  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED for the second one
  EXPECT_EQ(outcome.run.err, "");
  ExpectHooks(outcome, kRounds);
  EXPECT_EQ(outcome.activities.joined, 2 * kRounds);
}

TEST(OtherTools, ALibraryWithACuptiOfItsOwnIsLeftAlone) {
  const Outcome outcome = RunBeside("brings_cupti", {"first", PathOf("TOOL"), std::to_string(kRounds)});
  EXPECT_EQ(outcome.run.out, Fills(kRounds / 2));
  ExpectOneLine(outcome, "libtool_with_cupti.so loaded its own CUPTI");
  ExpectHooks(outcome, kRounds);
  EXPECT_FALSE(outcome.has_activities);
}

TEST(OtherTools, ALibraryThatBringsACuptiLaterIsGivenWay) {
  const Outcome outcome = RunBeside("brings_cupti", {"later", PathOf("TOOL"), std::to_string(kRounds)});
  EXPECT_EQ(outcome.run.out, "done\n");
  ExpectOneLine(outcome, "libtool_with_cupti.so loaded its own CUPTI");
  ExpectGaveWay(outcome);
}

// A wait of the tracer's thread for itself would last for two seconds.
TEST(OtherTools, OneMayAskInTheTracersOwnThread) {
  const Outcome outcome = RunBeside("called_back", {PathOf("ASKS_IN_CONSTRUCTOR"), std::to_string(kRounds)});
  EXPECT_EQ(outcome.run.out, "at once\n");
  EXPECT_EQ(outcome.run.err, "");
  ExpectHooks(outcome, kRounds);
  ASSERT_EQ(outcome.activities.missing.size(), 1u);
  EXPECT_EQ(outcome.activities.missing[0].why, "another tool asked CUPTI for its records");
}

// The simulated CUPTI says on stderr if it is used while it is detached, or afterwards.
TEST(OtherTools, OneMayDetachCuptiAtAnyMoment) {
  constexpr int kThreads = 2;
  constexpr uint64_t kRoundsOfEach = 2000;
  // The worker flushes every 200 ms: with the slow flush it is inside of one half of the time.
  for (int i = 0; i < 16; ++i) {
    const std::string microseconds = std::to_string(27000 * i);
    SCOPED_TRACE(microseconds);
    const Outcome outcome =
        RunBeside("detaches", {microseconds, std::to_string(kThreads), std::to_string(kRoundsOfEach)},
                  i % 2 == 0 ? "slow=150000" : "");
    EXPECT_EQ(outcome.run.out, "0\ndone\n");
    EXPECT_EQ(outcome.run.err, "");
    ExpectHooks(outcome, 1 + kThreads * kRoundsOfEach);
    ASSERT_TRUE(outcome.has_activities);
    EXPECT_TRUE(outcome.activities.only_cupti.empty());
  }
}

TEST(OtherTools, AnOlderCuptiIsTakenWhereTheNewestIsTooNew) {
  const Outcome outcome = RunBeside("brings_cupti", {"none", "", std::to_string(kRounds)}, "newer=130000");
  EXPECT_EQ(outcome.run.err, "");
  ExpectHooks(outcome, kRounds);
  EXPECT_EQ(outcome.activities.joined, 2 * kRounds);
}

TEST(OtherTools, NoneThatIsOldEnoughIsOneLine) {
  const Outcome outcome = RunBeside("brings_cupti", {"none", "", std::to_string(kRounds)}, "newer");
  ExpectOneLine(outcome,
                "no CUPTI: CUPTI_ERROR_NOT_INITIALIZED (it is newer than the driver); API hooks keep recording");
  ExpectHooks(outcome, kRounds);
  EXPECT_FALSE(outcome.has_activities);
}

}  // namespace
}  // namespace vramtrack
