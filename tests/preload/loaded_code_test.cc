// SPDX-License-Identifier: Apache-2.0
//
// Stacks name the library that was there when they were taken, even if another lies at its place later.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <set>

#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

std::string Plugin(const std::string& name) {
  char here[4096];
  return std::string(getcwd(here, sizeof here)) + "/" + getenv("PROGRAMS") + "/" + name;
}

TEST(LoadedCodeTest, EveryAllocationIsItsOwnPlugins) {
  const RunResult run = RunProgram("plugin_host", {Plugin("libplugin_a.so"), Plugin("libplugin_b.so")});
  ASSERT_EQ(run.wait_status, 0) << run.out;
  ASSERT_EQ(run.traces.size(), 1u);
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok());
  const Definitions& definitions = (*trace)->definitions();
  std::map<uint64_t, std::set<std::string>> innermost;  // bytes to modules
  std::map<uint64_t, int> allocations;
  EventStream stream(**trace);
  StreamEvent event;
  while (stream.Next(&event)) {
    if (event.operation != schema::ALLOCATE || IsOfTheRuntime(event.shape->kind)) continue;
    ++allocations[event.shape->bytes];
    const StackRef stack = definitions.stacks.Get(definitions.stacks.Distinct(event.shape->ref)).native;
    ASSERT_GE(stack.count, 3u);
    const int module = definitions.modules.Find(stack.frames[0], stack.module_epoch);
    ASSERT_GE(module, 0);
    innermost[event.shape->bytes].insert(definitions.modules.modules()[module].path);
  }
  EXPECT_EQ(allocations, (std::map<uint64_t, int>{{1111, 3}, {2222, 3}}));
  EXPECT_EQ(innermost[1111], std::set<std::string>{Plugin("libplugin_a.so")});
  EXPECT_EQ(innermost[2222], std::set<std::string>{Plugin("libplugin_b.so")});
}

// Of all processes of a run.
std::set<std::string> ModulesOf(const RunResult& run) {
  std::set<std::string> paths;
  for (const std::string& path : run.traces) {
    auto trace = Trace::Open(path);
    if (!trace.ok()) continue;
    for (const TracedModule& module : (*trace)->definitions().modules.modules()) paths.insert(module.path);
  }
  return paths;
}

std::string RealPath(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  std::string copy = real == nullptr ? "" : real;
  free(real);
  return copy;
}

// The working directory of a job is not known later.
TEST(LoadedCodeTest, RelativePathsAreCompleted) {
  const std::string relative = std::string(getenv("PROGRAMS")) + "/libplugin_a.so";
  const RunResult run = RunProgram("plugin_host", {"./" + relative, "./" + relative});
  ASSERT_EQ(run.wait_status, 0) << run.out;
  const std::set<std::string> paths = ModulesOf(run);
  EXPECT_EQ(paths.count(RealPath(relative)), 1u);
  for (const std::string& path : paths) EXPECT_TRUE(path[0] == '/' || path[0] == '[') << path;
}

TEST(LoadedCodeTest, AProgramThatTheLoaderWasToldToStartIsItself) {
  Dl_info loader;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(getauxval(AT_BASE)), &loader), 0);
  const std::string plugin = Plugin("libplugin_a.so");
  const RunResult run = RunProgram(RealPath(loader.dli_fname), {Plugin("plugin_host"), plugin, plugin});
  ASSERT_EQ(run.wait_status, 0) << run.out << run.err;
  EXPECT_EQ(ModulesOf(run).count(RealPath(Plugin("plugin_host"))), 1u);
}

}  // namespace
}  // namespace vramtrack
