// SPDX-License-Identifier: Apache-2.0
//
// Look-ups give a traced program what they give it untraced, beside other tools as well; and what cannot be seen is
// named.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>

#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

std::string PathOf(const std::string& variable) {
  char here[4096];
  return std::string(getcwd(here, sizeof here)) + "/" + getenv(variable.c_str());
}

// Names and reasons.
std::map<std::string, uint32_t> Unseen(const std::string& path) {
  auto trace = Trace::Open(path);
  EXPECT_TRUE(trace.ok());
  return (*trace)->definitions().process.unseen;
}

// dlerror names the library that asked, which is ours where our own export is not to be found.
std::string WithoutPaths(const std::string& text) { return std::regex_replace(text, std::regex("/[^ ]*: "), ""); }

TEST(LookupTest, WithoutCudaNothingIsFoundWithTheSameMessages) {
  RunOptions plain;
  plain.traced = false;
  const RunResult untraced = RunProgram("look_without_cuda", {}, plain);
  const RunResult traced = RunProgram("look_without_cuda", {});
  EXPECT_EQ(untraced.wait_status, 0);
  EXPECT_EQ(traced.wait_status, 0);
  EXPECT_EQ(untraced.err, "");
  EXPECT_EQ(traced.err, "");
  EXPECT_NE(untraced.out.find("default cudaMalloc: not there"), std::string::npos) << untraced.out;
  EXPECT_EQ(WithoutPaths(untraced.out), WithoutPaths(traced.out));
  EXPECT_TRUE(traced.traces.empty());
}

TEST(LookupTest, ScopesAreWhatTheyAreUntraced) {
  RunOptions plain;
  plain.traced = false;
  for (const char* scope : {"local", "global"}) {
    const RunResult untraced = RunProgram("look_without_cuda", {scope, PathOf("SIMCUDA")}, plain);
    const RunResult traced = RunProgram("look_without_cuda", {scope, PathOf("SIMCUDA")});
    EXPECT_EQ(untraced.wait_status, 0);
    EXPECT_EQ(traced.wait_status, 0);
    EXPECT_EQ(WithoutPaths(untraced.out), WithoutPaths(traced.out)) << scope;
    const char* found = std::string(scope) == "local" ? "default cudaMalloc: not there" : "default cudaMalloc: there";
    EXPECT_NE(traced.out.find(found), std::string::npos) << traced.out;
  }
}

struct Order {
  const char* name;
  bool before;
  bool by_handle;
};

class BesideAnotherTool : public testing::TestWithParam<Order> {};

TEST_P(BesideAnotherTool, BothSeeEveryCallOnce) {
  const std::string tool = PathOf("PROGRAMS") + "/libother_tool.so";
  RunOptions options;
  (GetParam().before ? options.preload_before : options.preload_after).push_back(tool);
  if (GetParam().by_handle) {
    options.environment["OTHER_TOOL_BY_HANDLE"] = "1";
    options.environment["OTHER_TOOL_RUNTIME"] = PathOf("SIMCUDA");
  }
  RunOptions plain = options;
  plain.traced = false;
  const RunResult untraced = RunProgram("beside_other_tool", {}, plain);
  const RunResult traced = RunProgram("beside_other_tool", {}, options);
  ASSERT_EQ(untraced.wait_status, 0) << untraced.out << untraced.err;
  EXPECT_NE(untraced.out.find("other_tool 10 20"), std::string::npos) << untraced.out;
  EXPECT_EQ(traced.wait_status, 0);
  EXPECT_EQ(traced.err, untraced.err);
  EXPECT_EQ(traced.out, untraced.out);
  ASSERT_EQ(traced.traces.size(), 1u);
  const TraceCounts counts = Count(traced.traces[0]);
  EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 35u);
  EXPECT_EQ(counts.operations.at(schema::FREE), 35u);
  EXPECT_EQ(counts.operations.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(All, BesideAnotherTool,
                         testing::Values(Order{"Before", true, false}, Order{"Behind", false, false},
                                         Order{"BeforeByHandle", true, true}, Order{"BehindByHandle", false, true}),
                         [](const auto& info) { return std::string(info.param.name); });

std::string CopyOf(const std::string& path, const std::string& name) {
  const std::string copy = std::string(getenv("TEST_TMPDIR")) + "/" + name;
  std::ofstream(copy, std::ios::binary) << std::ifstream(path, std::ios::binary).rdbuf();
  return copy;
}

TEST(LookupTest, TwoCopiesOfALibraryAreToldApartAndAThirdIsNamed) {
  const std::string runtime = PathOf("SIMCUDA");
  const std::string second = CopyOf(runtime, "libcudart_second.so"), third = CopyOf(runtime, "libcudart_third.so");
  const RunResult two = RunProgram("copies_of_the_runtime", {runtime, second});
  EXPECT_EQ(two.wait_status, 0) << two.out;
  EXPECT_EQ(two.out, "0 0\n0 0\n");
  ASSERT_EQ(two.traces.size(), 1u);
  TraceCounts counts = Count(two.traces[0]);
  EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 2u);
  EXPECT_EQ(counts.operations.at(schema::FREE), 2u);
  EXPECT_EQ(Unseen(two.traces[0]), (std::map<std::string, uint32_t>{}));

  const RunResult three = RunProgram("copies_of_the_runtime", {runtime, second, third});
  EXPECT_EQ(three.wait_status, 0) << three.out;
  EXPECT_EQ(three.out, "0 0\n0 0\n0 0\n");
  ASSERT_EQ(three.traces.size(), 1u);
  const auto unseen = Unseen(three.traces[0]);
  ASSERT_EQ(unseen.count("cudaMalloc"), 1u);
  EXPECT_EQ(unseen.at("cudaMalloc"), static_cast<uint32_t>(schema::UNSEEN_THIRD_COPY));
  // Its calls come by at the driver all the same.
  counts = Count(three.traces[0]);
  EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 3u);
  EXPECT_EQ(counts.operations.at(schema::FREE), 3u);
}

TEST(LookupTest, ANamespaceOfItsOwnIsNamed) {
  const std::string runtime = PathOf("SIMCUDA");
  RunOptions plain;
  plain.traced = false;
  const RunResult untraced = RunProgram("copies_of_the_runtime", {"namespace", runtime, runtime}, plain);
  const RunResult traced = RunProgram("copies_of_the_runtime", {"namespace", runtime, runtime});
  EXPECT_EQ(traced.wait_status, untraced.wait_status);
  EXPECT_EQ(traced.out, untraced.out);
  ASSERT_EQ(traced.traces.size(), 1u);
  EXPECT_EQ(Count(traced.traces[0]).operations.at(schema::ALLOCATE), 1u) << "that of the first";
  const auto unseen = Unseen(traced.traces[0]);
  const std::string kept = runtime.size() > 255 ? runtime.substr(runtime.size() - 255) : runtime;
  ASSERT_EQ(unseen.count(kept), 1u);
  EXPECT_EQ(unseen.at(kept), static_cast<uint32_t>(schema::UNSEEN_NAMESPACE));
}

TEST(LookupTest, ARuntimeThatInjectionCannotReachIsTold) {
  RunOptions injected;
  injected.traced = false;
  injected.environment["CUDA_INJECTION64_PATH"] = PathOf("PRELOAD_LIBRARY");
  const RunResult run = RunProgram("runtime_calls_static_13", {}, injected);
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_NE(run.err.find("LD_PRELOAD"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << run.err;
}

}  // namespace
}  // namespace vramtrack
