// SPDX-License-Identifier: Apache-2.0
//
// A CUPTI that is not there, is not one, or fails: one line, the hooked events go on, and the program does not notice.
// Each function of CUPTI that is called is tried.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/pipeline/analyze.h"
#include "tests/cupti/simulated_cupti.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr int kRounds = 20;
constexpr uint64_t kHooked = 1 + kRounds * 5;  // allocations of both_ways
#if defined(__aarch64__)
constexpr char kLoader[] = "/lib/ld-linux-aarch64.so.1";
#else
constexpr char kLoader[] = "/lib64/ld-linux-x86-64.so.2";
#endif

struct Function {
  const char* name;
  bool needed;
};
constexpr Function kFunctions[] = {
#define VRAMTRACK_CUPTI(name, needed, parameters) {#name, needed},
#include "cupti_tracer/cupti_functions.inc"
};

struct Outcome {
  std::string err;
  uint64_t joined = 0;  // with CUPTI's records
};

// `libraries`: as LD_LIBRARY_PATH, where the loader looks before it looks elsewhere.
Outcome RunWith(const std::string& libraries, const std::string& faults = "", const char* end = "exit",
                const std::string& records = "memory,pools", bool only_there = false) {
  RunOptions options;
  options.limit_s = 40;
  options.environment["VRAMTRACK_CUPTI"] = "1";
  options.environment["VRAMTRACK_CUPTI_RECORDS"] = records;
  options.environment["SIMCUPTI_FAULTS"] = faults;
  options.environment["LD_LIBRARY_PATH"] = libraries;
  options.environment["CUDA_HOME"] = "/nowhere";  // the machine may have a toolkit
  char* const programs = realpath(getenv("PROGRAMS"), nullptr);
  const std::string program = std::string(programs == nullptr ? "" : programs) + "/both_ways";
  free(programs);
  std::vector<std::string> arguments = {std::to_string(kRounds), "0", end};
  if (only_there) arguments.insert(arguments.begin(), {"--inhibit-cache", program});
  const RunResult run = RunProgram(only_there ? kLoader : program, arguments, options);
  Outcome outcome;
  outcome.err = run.err;
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.out, "done\n");
  EXPECT_EQ(run.traces.size(), 1u);
  if (run.traces.empty()) return outcome;
  const TraceCounts counts = Count(run.traces[0]);
  EXPECT_EQ(counts.operations.at(schema::ALLOCATE), kHooked);
  EXPECT_EQ(counts.operations.at(schema::FREE), kHooked - 1);
  const absl::StatusOr<Report> report = Analyze({run.traces[0]}, {});
  EXPECT_TRUE(report.ok()) << report.status();
  if (!report.ok() || !report->processes[0].activities) return outcome;
  EXPECT_TRUE(report->processes[0].activities->only_cupti.empty());
  outcome.joined = report->processes[0].activities->joined;
  return outcome;
}

void ExpectOneLine(const Outcome& outcome, const std::string& part) {
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.find("vramtrack: "), 0u) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("API hooks keep recording\n"), std::string::npos) << outcome.err;
}

// CUPTI with one function less.
std::string LibrariesWithout(const std::string& function) {
  const std::string libraries = SimulatedDeviceAnd(PathOf("SIMCUPTI_13"), "without_" + function);
  const std::string path = libraries.substr(libraries.find(':') + 1) + "/libcupti.so.13";
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const std::string name = std::string(1, 0) + function + std::string(1, 0);
  size_t found = 0;
  for (size_t at = 0; (at = bytes.find(name, at)) != std::string::npos; ++found) bytes[at + 1] = 'X';
  EXPECT_GT(found, 0u);
  std::ofstream(path, std::ios::binary) << bytes;
  return libraries;
}

TEST(UnusableCupti, NoneAtAll) {
  const std::string device = PathOf("SIMCUDA");
  ExpectOneLine(RunWith(device.substr(0, device.rfind('/')), "", "exit", "memory,pools", true),
                "no CUPTI: libcupti.so.13, .12 and .11.8 are not installed");
}

TEST(UnusableCupti, AFileThatIsNoLibrary) {
  const std::string text = std::string(getenv("TEST_TMPDIR")) + "/text";
  std::ofstream(text) << std::string(4096, 'x');
  ExpectOneLine(RunWith(SimulatedDeviceAnd(text, "broken")), "broken/libcupti.so.13: ");
  std::ofstream(text, std::ios::trunc) << "";
  ExpectOneLine(RunWith(SimulatedDeviceAnd(text, "empty")), "empty/libcupti.so.13: ");
}

TEST(UnusableCupti, AnotherLibraryByItsName) {
  ExpectOneLine(RunWith(SimulatedDeviceAnd(PathOf("OTHER_LIBRARY"), "foreign")),
                "foreign/libcupti.so.13 has no cuptiGetVersion");
}

TEST(UnusableCupti, OneThatLacksAFunction) {
  for (const Function& function : kFunctions) {
    SCOPED_TRACE(function.name);
    const Outcome outcome = RunWith(LibrariesWithout(function.name));
    if (function.needed) {
      ExpectOneLine(outcome, std::string("/libcupti.so.13 has no ") + function.name);
      EXPECT_EQ(outcome.joined, 0u);
    } else {
      EXPECT_EQ(outcome.err, "");
      EXPECT_EQ(outcome.joined, kHooked);
    }
  }
}

// Whether at once or half-way: either there is one line, or nothing is missing.
TEST(UnusableCupti, AnyOfItsFunctionsMayFail) {
  constexpr char kAllRecords[] = "memory,pools,kernels,copies,fills";
  for (const Function& function : kFunctions) {
    for (const auto& [from, end] : {std::pair(":1", "exit"), std::pair(":3", "late")}) {
      SCOPED_TRACE(std::string(function.name) + from);
      const Outcome outcome =
          RunWith(SimulatedLibraries(13), std::string("call=") + function.name + from, end, kAllRecords);
      if (outcome.err.empty()) {
        EXPECT_EQ(outcome.joined, kHooked);
      } else {
        EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
        EXPECT_EQ(outcome.err.find("vramtrack: "), 0u) << outcome.err;
      }
    }
  }
}

TEST(UnusableCupti, AnErrorMayHaveNoName) {
  ExpectOneLine(RunWith(SimulatedLibraries(13), "call=cuptiGetResultString,call=cuptiActivityEnable"),
                "memory records were refused: an unknown error");
}

}  // namespace
}  // namespace vramtrack
