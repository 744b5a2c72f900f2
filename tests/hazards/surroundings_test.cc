// SPDX-License-Identifier: Apache-2.0
//
// Programs that are started, or put themselves, into odd surroundings.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "analyzer/ingest/trace_choice.h"
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

// A trace file's journals are at multiples of 4 KiB, which need not be where a page begins.
TEST(SurroundingsTest, LargerPages) {
  RunOptions options;
  options.preload_before = {DataPath(getenv("LOADED_LIBRARIES")) + "/libother_pages.so"};
  for (const char* kib : {"16", "64"}) {
    SCOPED_TRACE(kib);
    options.environment = {{"PAGE_KIB", kib}};
    ExpectUnharmed({"eight threads", "first_calls_at_once", {"1"}, {.allocations = 8, .frees = 8}, options});
    options.environment["VRAMTRACK_MAX_BYTES"] = "1M";
    ExpectUnharmed({"bounded", "pairs", {"20000"}, {.allocations = 20000, .frees = 20000}, options});
  }
}

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
  const std::string start = NewTestFolder();
  Hazard hazard{"", "vanished_directory", {}, {.processes = 0, .finished = 0}};
  hazard.options.environment["VRAMTRACK_OUTPUT"] = "t.vtrace";
  hazard.options.in_child = [=] {
    if (chdir(start.c_str()) != 0) _exit(1);
  };
  for (const bool traced : {false, true}) {
    hazard.options.traced = traced;
    hazard.arguments = {NewTestFolder(), "before"};
    const RunResult run = RunProgram(hazard.program, hazard.arguments, hazard.options);
    EXPECT_EQ(run.wait_status, 0);
    EXPECT_EQ(run.out, "done\n");
    EXPECT_EQ(run.err, "");
  }
  EXPECT_EQ(Count(start + "/t.vtrace").operations.at(schema::ALLOCATE), 20010u);
}

// Starts in a folder of its own with a relative name for the trace and a cap, and loses its environment in this way.
void LosesItsEnvironment(const std::string& way) {
  constexpr uint64_t kCap = 300 << 10;
  const std::string start = NewTestFolder();
  std::string out[2];
  for (const bool traced : {false, true}) {
    RunOptions options;
    options.traced = traced;
    options.environment = {{"VRAMTRACK_OUTPUT", "%r.%p.vtrace"},
                           {"VRAMTRACK_MAX_BYTES", std::to_string(kCap)},
                           {"VRAMTRACK_RUN_ID", "kept run"},
                           {"CUDA_MODULE_LOADING", "LAZY"},
                           {"SLURM_PROCID", "7"}};
    options.in_child = [=] {
      if (chdir(start.c_str()) != 0) _exit(1);
    };
    const RunResult run = RunProgram("overwritten_environment", {way, NewTestFolder()}, options);
    EXPECT_EQ(run.wait_status, 0);
    EXPECT_EQ(run.err, "");
    EXPECT_TRUE(run.traces.empty());
    out[traced] = run.out;
  }
  EXPECT_EQ(out[1], out[0]);
  const auto traces = ListTraces(start);
  ASSERT_TRUE(traces.ok()) << traces.status();
  ASSERT_EQ(traces->size(), 2u);
  for (const std::string& path : *traces) {
    const TraceCounts counts = Count(path);
    EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 80000u);
    EXPECT_EQ(counts.lost_events, 0u);
    EXPECT_GT(counts.generation, 0u);
    struct stat status;
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_LE(static_cast<uint64_t>(status.st_size), kCap);
    EXPECT_EQ(path.rfind(start + "/7.", 0), 0u) << path;
    const auto trace = Trace::Open(path);
    ASSERT_TRUE(trace.ok());
    const TracedProcess& process = (*trace)->definitions().process;
    EXPECT_EQ(process.run_id, "kept run");
    EXPECT_EQ(process.rank, 7);
    const std::pair<std::string, std::string> variable = {"CUDA_MODULE_LOADING", "LAZY"};
    EXPECT_EQ(std::count(process.environment.begin(), process.environment.end(), variable), 1);
  }
}

TEST(SurroundingsTest, AnEnvironmentThatIsClearedBeforeTheFirstCall) { LosesItsEnvironment("clear"); }
TEST(SurroundingsTest, AnEnvironmentThatIsNoneBeforeTheFirstCall) { LosesItsEnvironment("null"); }
TEST(SurroundingsTest, AnEnvironmentThatATitleIsWrittenOver) { LosesItsEnvironment("title"); }
TEST(SurroundingsTest, AnEnvironmentThatIsKeptInAFolderThatIsNot) { LosesItsEnvironment("keep"); }

TEST(SurroundingsTest, AnOutputThatIsNoRegularFileIsLeftAlone) {
  const std::string folder = NewTestFolder();
  const std::string file = folder + "/file", link = folder + "/link.vtrace", nowhere = folder + "/nowhere.vtrace";
  const std::string pipe = folder + "/pipe.vtrace";
  std::ofstream(file) << "kept";
  ASSERT_EQ(symlink(file.c_str(), link.c_str()), 0);
  ASSERT_EQ(symlink((folder + "/missing").c_str(), nowhere.c_str()), 0);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {std::string("/dev/null"), folder, link, nowhere, pipe}) {
    SCOPED_TRACE(path);
    RunOptions options;
    options.environment["VRAMTRACK_OUTPUT"] = path;
    const RunResult run = RunProgram("pairs", {"100"}, options);
    EXPECT_EQ(run.wait_status, 0);
    EXPECT_EQ(run.err, "vramtrack: not recording: " + path +
                           " exists and is not a regular file (VRAMTRACK_OUTPUT is the path of a new file)\n");
    for (const char* other : {".1", ".2"}) EXPECT_NE(access((path + other).c_str(), F_OK), 0);
  }
  EXPECT_EQ(Contents(file), "kept");
  EXPECT_NE(access((folder + "/missing").c_str(), F_OK), 0);
  EXPECT_FALSE(ListTraces(folder).ok() && ListTraces(folder)->size() > 3);
}

TEST(SurroundingsTest, ATraceIsItsOwnersOnly) {
  RunOptions options;
  options.in_child = [] { umask(0); };
  const RunResult run = RunProgram("pairs", {"100"}, options);
  ASSERT_EQ(run.traces.size(), 1u);
  struct stat status;
  ASSERT_EQ(stat(run.traces[0].c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

// As after exec, or in another container whose processes have the same numbers.
TEST(SurroundingsTest, AFileThatHasTheNameAlreadyIsKeptAndTheFolderHasBoth) {
  const std::string folder = NewTestFolder();
  RunOptions options;
  options.environment["VRAMTRACK_OUTPUT"] = folder + "/a.job.vtrace";
  EXPECT_EQ(RunProgram("execs_itself", {"2"}, options).err, "");
  EXPECT_EQ(RunProgram("execs_itself", {"0"}, options).err, "");
  const auto traces = ListTraces(folder);
  ASSERT_TRUE(traces.ok()) << traces.status();
  std::vector<std::string> names;
  uint64_t allocations = 0;
  for (const std::string& path : *traces) {
    names.push_back(path.substr(folder.size() + 1));
    allocations += Count(path).operations[schema::ALLOCATE];
  }
  EXPECT_EQ(names, (std::vector<std::string>{"a.job.2.vtrace", "a.job.3.vtrace", "a.job.4.vtrace", "a.job.vtrace"}));
  EXPECT_EQ(allocations, 400u);
}

TEST(SurroundingsTest, TheRunOfAProcess) {
  using Variables = std::map<std::string, std::string>;
  const std::pair<Variables, std::string> cases[] = {
      {{{"VRAMTRACK_RUN_ID", "own"}, {"SLURM_JOB_ID", "12"}, {"TORCHELASTIC_RUN_ID", "elastic"}}, "own"},
      {{{"VRAMTRACK_RUN_ID", ""}, {"SLURM_JOB_ID", "12"}, {"TORCHELASTIC_RUN_ID", "elastic"}}, "12"},
      {{{"VRAMTRACK_RUN_ID", ""}, {"SLURM_JOB_ID", "12"}, {"SLURM_RESTART_COUNT", "0"}}, "12"},
      {{{"VRAMTRACK_RUN_ID", ""}, {"SLURM_JOB_ID", "12"}, {"SLURM_RESTART_COUNT", "3"}}, "12 restart 3"},
      {{{"VRAMTRACK_RUN_ID", ""}, {"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "3"}}, "12.3"},
      {{{"VRAMTRACK_RUN_ID", ""}, {"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "4294967290"}}, "12"},
      {{{"VRAMTRACK_RUN_ID", ""}, {"SLURM_JOB_ID", ""}, {"TORCHELASTIC_RUN_ID", "el\xffstic\n"}}, "el_stic_"},
      {{{"VRAMTRACK_RUN_ID", ""}, {"SLURM_JOB_ID", ""}, {"TORCHELASTIC_RUN_ID", "none"}}, ""},
  };
  for (const auto& [variables, expected] : cases) {
    RunOptions options;
    options.environment = variables;
    const RunResult run = RunProgram("pairs", {"1"}, options);
    ASSERT_EQ(run.traces.size(), 1u);
    const auto trace = Trace::Open(run.traces[0]);
    ASSERT_TRUE(trace.ok());
    EXPECT_EQ((*trace)->definitions().process.run_id, expected);
  }
}

TEST(SurroundingsTest, AWorkingDirectoryThatVanishesAfterTheFirstCall) {
  for (const bool within : {false, true}) {
    SCOPED_TRACE(within);
    const std::string folder = NewTestFolder();
    const std::string path = folder + "/here/t.vtrace";
    RunOptions options;
    if (within) options.environment["VRAMTRACK_OUTPUT"] = path;
    const RunResult run = RunProgram("vanished_directory", {folder, "after"}, options);
    EXPECT_EQ(run.wait_status, 0);
    EXPECT_EQ(run.out, "done\n");
    if (within) {
      // The trace has vanished with it, and with the last descriptor.
      EXPECT_EQ(run.err, "vramtrack: recording stopped: the program closed the trace's file descriptor, and " + path +
                             " was removed; what was recorded is lost\n");
    } else {
      EXPECT_EQ(run.err, "");
      ExpectTraces(run, {.allocations = 20020, .frees = 20020});
    }
  }
}

TEST(SurroundingsTest, ATraceThatIsRemovedWhileItIsWritten) {
  Hazard hazard{"", "removes_a_file", {}, {.processes = 0, .finished = 0, .lines = 1}};
  const std::string path = NewTestFolder() + "/t.vtrace";
  hazard.arguments = {path};
  hazard.options.environment["VRAMTRACK_OUTPUT"] = path;
  const RunResult run = ExpectUnharmed(hazard);
  EXPECT_EQ(run.err, "vramtrack: " + path + " was removed while it was written; what was recorded is lost\n");
}

TEST(SurroundingsTest, ACapThatIsTooSmallSaysWhatIsTheLeast) {
  RunOptions options;
  options.environment["VRAMTRACK_MAX_BYTES"] = "1";
  const RunResult run = RunProgram("pairs", {"100"}, options);
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_TRUE(run.traces.empty());
  const std::string before = "vramtrack: not recording: VRAMTRACK_MAX_BYTES=1 is too small (at least ";
  ASSERT_EQ(run.err.substr(0, before.size()), before);
  options.environment["VRAMTRACK_MAX_BYTES"] = run.err.substr(before.size(), run.err.find(')') - before.size());
  const RunResult least = RunProgram("pairs", {"100"}, options);
  EXPECT_EQ(least.err, "");
  ExpectTraces(least, {.allocations = 100, .frees = 100});
}

TEST(SurroundingsTest, ARelativePathIsThatOfTheStart) {
  const std::string folder = NewTestFolder();
  RunOptions options;
  options.environment["VRAMTRACK_OUTPUT"] = "t.vtrace";
  options.in_child = [=] {
    if (chdir(folder.c_str()) != 0) _exit(1);
  };
  // It goes to / before its first call, or between the two of its processes.
  RunProgram("daemon_process", {"after"}, options);
  EXPECT_EQ(Count(folder + "/t.vtrace").operations.at(schema::ALLOCATE), 1u);
  RunProgram("daemon_process", {"before"}, options);
  EXPECT_EQ(Count(folder + "/t.2.vtrace").operations.at(schema::ALLOCATE), 10u);
  EXPECT_NE(access("/t.vtrace", F_OK), 0);
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
