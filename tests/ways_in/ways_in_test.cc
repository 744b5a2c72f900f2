// SPDX-License-Identifier: Apache-2.0
//
// Whichever way a program takes to CUDA, its trace says what the program itself counts, in every family of the API.
// Prints the matrix.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/preload/traced_run.h"
#include "tests/ways_in/counts.h"

namespace vramtrack {
namespace {

struct Family {
  const char* name;
  std::vector<std::string> kinds;
};
const Family kFamilies[] = {
    {"device", {"device", "pitched", "managed"}},
    {"arrays", {"array", "mipmapped_array"}},
    {"pools", {"stream_ordered", "pool", "memory_pool"}},
    {"virtual", {"physical", "mapping", "address_range"}},
    {"host", {"pinned", "registered"}},
    {"graph memory", {"graph_memory"}},
    {"handles", {"stream", "event", "graph", "graph_exec"}},
};

struct Way {
  std::string name, program;
  std::vector<std::string> arguments;
  bool injected = false;
  ByKind also = {};  // what the loading program adds, or what is known to go by
};

std::string PathOf(const char* variable) {
  char here[4096];
  return std::string(getcwd(here, sizeof here)) + "/" + getenv(variable);
}

std::string Library(int version) { return PathOf("PROGRAMS") + "/libruntime_calls_" + std::to_string(version) + ".so"; }

std::vector<int> Versions() {
  std::vector<int> versions;
  std::istringstream in(getenv("VERSIONS"));
  for (int v; in >> v;) versions.push_back(v);
  return versions;
}

std::vector<Way> Ways() {
  std::vector<Way> ways;
  const ByKind loader = {{"event", {1, 1, 0, 0}}};
  for (const int v : Versions()) {
    const std::string version = std::to_string(v);
    ways.push_back({"runtime " + version + ", shared", "runtime_calls_" + version, {}});
    ways.push_back({"runtime " + version + ", static", "runtime_calls_static_" + version, {}});
    ways.push_back({"runtime " + version + ", RTLD_LOCAL", "load_runtime_calls", {"local", Library(v)}, false, loader});
    ways.push_back(
        {"runtime " + version + ", RTLD_DEEPBIND", "load_runtime_calls", {"deepbind", Library(v)}, false, loader});
    // The call during which the driver brings the library in has passed the hooks by then.
    ways.push_back({"runtime " + version + ", injected",
                    "runtime_calls_" + version,
                    {},
                    true,
                    {{"stream", {static_cast<uint64_t>(-1), 0, 0, 0}}}});
  }
  if (Versions().size() > 1) {
    const ByKind twice = {{"event", {2, 2, 0, 0}}};
    ways.push_back({"two runtimes",
                    "load_runtime_calls",
                    {"local", Library(Versions()[0]), Library(Versions()[1])},
                    false,
                    twice});
  }
  for (const char* way :
       {"symbol", "dlsym", "get_proc_address", "get_proc_address_v1", "entry_point", "entry_point_by_version",
        "per_thread:dlsym", "per_thread:get_proc_address", "per_thread:entry_point_by_version"}) {
    ways.push_back({std::string("driver, ") + way, "driver_calls", {way}});
  }
  return ways;
}

TEST(WaysInTest, TheTraceSaysWhatTheProgramCounts) {
  std::string matrix = "way in                                       ";
  for (const Family& family : kFamilies) matrix += std::string("  ") + family.name;
  matrix += "\n";
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.name);
    RunOptions options;
    options.traced = !way.injected;
    if (way.injected) options.environment["CUDA_INJECTION64_PATH"] = PathOf("PRELOAD_LIBRARY");
    const RunResult run = RunProgram(way.program, way.arguments, options);
    EXPECT_EQ(run.wait_status, 0) << run.out << run.err;
    EXPECT_EQ(run.err, "");
    if (run.traces.size() != 1) {
      ADD_FAILURE() << run.traces.size() << " traces";
      continue;
    }
    ByKind expected = Printed(run.out);
    for (const auto& [kind, counts] : way.also) {
      expected[kind].allocations += counts.allocations;
      expected[kind].frees += counts.frees;
    }
    ByKind traced = Traced(run.traces[0]);
    // The runtime's own context comes on top of what a program makes.
    if (way.program != "driver_calls") traced.erase("context");
    char line[64];
    std::snprintf(line, sizeof line, "%-45s", way.name.c_str());
    matrix += line;
    for (const Family& family : kFamilies) {
      bool called = false, ok = true;
      for (const std::string& kind : family.kinds) {
        called |= expected.count(kind) != 0;
        ok &= expected[kind] == traced[kind];
        EXPECT_EQ(expected[kind], traced[kind]) << kind;
        expected.erase(kind);
        traced.erase(kind);
      }
      std::snprintf(line, sizeof line, "  %-*s", static_cast<int>(strlen(family.name)),
                    !called ? "-"
                    : ok    ? "ok"
                            : "NO");
      matrix += line;
    }
    matrix += "\n";
    EXPECT_EQ(expected, traced) << "in no family";
  }
  std::printf("%s", matrix.c_str());
}

TEST(WaysInTest, WithoutStacksEventsAreTheSame) {
  const std::string program = "runtime_calls_" + std::to_string(Versions().back());
  RunOptions options;
  options.environment["VRAMTRACK_STACKS"] = "none";
  const RunResult with = RunProgram(program, {}), without = RunProgram(program, {}, options);
  ASSERT_EQ(with.traces.size(), 1u);
  ASSERT_EQ(without.traces.size(), 1u);
  EXPECT_EQ(Count(without.traces[0]).operations, Count(with.traces[0]).operations);
  auto with_trace = Trace::Open(with.traces[0]), without_trace = Trace::Open(without.traces[0]);
  ASSERT_TRUE(with_trace.ok());
  ASSERT_TRUE(without_trace.ok());
  EXPECT_GE((*with_trace)->counter(schema::COUNTER_STACKS), 20u);
  EXPECT_EQ((*without_trace)->counter(schema::COUNTER_STACKS), 0u);
  const Definitions& definitions = (*with_trace)->definitions();
  EXPECT_EQ(definitions.devices.at(0).name, "Simulated GPU");
  EXPECT_GT(definitions.devices.at(0).total_bytes, 0u);
  EXPECT_GT(definitions.process.versions.at("cudart"), 11000u);
}

}  // namespace
}  // namespace vramtrack
