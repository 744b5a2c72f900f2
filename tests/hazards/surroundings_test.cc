// SPDX-License-Identifier: Apache-2.0
//
// Programs that are started, or put themselves, into odd surroundings.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Starts without descriptors 0, 1 and 2, and with at most `descriptors` of them; what the program writes is in three
// files.
void ClosedStdio(rlim_t descriptors, bool recording) {
  std::string contents[2];
  for (const bool traced : {false, true}) {
    const std::string folder = NewTestFolder();
    RunOptions options;
    options.traced = traced;
    if (!recording) options.environment["VRAMTRACK_OUTPUT"] = "/nonexistent/t.vtrace";
    options.in_child = [=] {
      const rlimit limit = {descriptors, descriptors};
      setrlimit(RLIMIT_NOFILE, &limit);
      for (int fd = 0; fd < 3; ++fd) close(fd);
    };
    const RunResult run = RunProgram("closed_stdio", {folder}, options);
    EXPECT_EQ(run.wait_status, 0);
    EXPECT_EQ(run.out + run.err, "");
    for (int i = 0; i < 3; ++i) contents[traced] += Contents(folder + "/" + std::to_string(i)) + "|";
    if (!traced) continue;
    ExpectTraces(run, {.processes = recording,
                       .finished = recording,
                       .allocations = recording ? 20100u : 0,
                       .frees = recording ? 20100u : 0});
  }
  EXPECT_EQ(contents[1], contents[0]);
  EXPECT_NE(contents[0].find("file 2 is descriptor 2"), std::string::npos) << contents[0];
}

TEST(SurroundingsTest, ClosedStandardFilesStayTheProgramsOwn) { ClosedStdio(4096, true); }
TEST(SurroundingsTest, ClosedStandardFilesStayTheProgramsOwnWithFewDescriptors) { ClosedStdio(64, true); }
TEST(SurroundingsTest, NoMessageGoesIntoAFileThatHasTheNumberOfStderr) { ClosedStdio(4096, false); }

TEST(SurroundingsTest, SecretsInTheEnvironmentAreNotInTheTrace) {
  RunOptions options;
  options.environment = {
      {"HF_HOME", "/where/models/are"}, {"HF_TOKEN", "hf_kept_secret"}, {"TORCH_API_KEY", "kept_secret"}};
  const RunResult run = RunProgram("static_destructors", {}, options);
  ASSERT_EQ(run.traces.size(), 1u);
  const std::string trace = Contents(run.traces[0]);
  EXPECT_NE(trace.find("/where/models/are"), std::string::npos);
  EXPECT_EQ(trace.find("kept_secret"), std::string::npos);
  EXPECT_EQ(trace.find("HF_TOKEN"), std::string::npos);
}

TEST(SurroundingsTest, ARootThatIsChangedAfterTheFirstCall) {
  ExpectUnharmed({"", "changed_root", {NewTestFolder(), "after"}, {.allocations = 20010, .frees = 20010}});
}

TEST(SurroundingsTest, ARootThatIsChangedBeforeTheFirstCall) {
  ExpectUnharmed({"", "changed_root", {NewTestFolder(), "before"}, {.processes = 0, .finished = 0, .lines = 1}});
}

TEST(SurroundingsTest, AWorkingDirectoryThatVanishesBeforeTheFirstCall) {
  Hazard hazard{"", "vanished_directory", {}, {.processes = 0, .finished = 0, .lines = 1}};
  hazard.options.environment["VRAMTRACK_OUTPUT"] = "t.vtrace";
  for (const bool traced : {false, true}) {
    hazard.options.traced = traced;
    hazard.arguments = {NewTestFolder(), "before"};
    const RunResult run = RunProgram(hazard.program, hazard.arguments, hazard.options);
    EXPECT_EQ(run.wait_status, 0);
    EXPECT_EQ(run.out, "done\n");
    EXPECT_EQ(run.err.empty(), !traced) << run.err;
  }
}

TEST(SurroundingsTest, AWorkingDirectoryThatVanishesAfterTheFirstCall) {
  for (const bool relative : {false, true}) {
    SCOPED_TRACE(relative);
    RunOptions options;
    if (relative) options.environment["VRAMTRACK_OUTPUT"] = "t.vtrace";
    const RunResult run = RunProgram("vanished_directory", {NewTestFolder(), "after"}, options);
    EXPECT_EQ(run.wait_status, 0);
    EXPECT_EQ(run.out, "done\n");
    if (relative) {
      // The trace has vanished with it, and with the last descriptor.
      EXPECT_NE(run.err.find("recording stopped"), std::string::npos) << run.err;
      EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << run.err;
    } else {
      EXPECT_EQ(run.err, "");
      ExpectTraces(run, {.allocations = 20020, .frees = 20020});
    }
  }
}

TEST(SurroundingsTest, ARelativePathIsThatOfTheFirstCall) {
  const std::string folder = NewTestFolder();
  RunOptions options;
  options.environment["VRAMTRACK_OUTPUT"] = "t.vtrace";
  options.in_child = [=] {
    if (chdir(folder.c_str()) != 0) _exit(1);
  };
  RunResult run = RunProgram("daemon_process", {"after"}, options);  // it goes to / before it
  EXPECT_EQ(access((folder + "/t.vtrace").c_str(), F_OK), -1);
  unlink("/t.vtrace");
  run = RunProgram("daemon_process", {"before"}, options);
  EXPECT_EQ(Count(folder + "/t.vtrace").operations.at(schema::ALLOCATE), 10u);
  unlink("/t.vtrace");
}

TEST(SurroundingsTest, NonsenseInTheEnvironmentIsAtMostTwoLines) {
  Hazard hazard{"", "pairs", {"100"}, {.allocations = 100, .frees = 100, .lines = 2}};
  hazard.options.environment = {{"VRAMTRACK_STACKS", "all of them"},
                                {"VRAMTRACK_MAX_FRAMES", "-3"},
                                {"VRAMTRACK_MAX_BYTES", "a lot"},
                                {"VRAMTRACK_CUPTI", "perhaps"}};
  ExpectUnharmed(hazard);
}

}  // namespace
}  // namespace vramtrack
