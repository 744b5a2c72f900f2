// SPDX-License-Identifier: Apache-2.0
//
// Programs built with the address sanitizer. Where its runtime is a library it wants to be the first one.
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cstring>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

constexpr char kShared[] = "heap_beside_device_shared_asan";

Hazard Program(const std::string& program) { return {"", program, {}, {.allocations = 800, .frees = 800}}; }

// The runtime that the program asks for.
std::string Runtime() {
  FILE* libraries = popen(("ldd " + DataPath(getenv("PROGRAMS")) + "/" + kShared).c_str(), "r");
  std::string runtime;
  char line[4096];
  while (libraries != nullptr && fgets(line, sizeof line, libraries) != nullptr) {
    const char* path = std::strstr(line, "=> ");
    if (path != nullptr && std::strstr(line, "libasan") != nullptr) {
      runtime.assign(path + 3, std::strcspn(path + 3, " \n"));
    }
  }
  if (libraries != nullptr) pclose(libraries);
  return runtime;
}

TEST(SanitizerTest, InTheProgramItself) { ExpectUnharmed(Program("heap_beside_device_static_asan")); }

TEST(SanitizerTest, AsALibraryThatIsPreloadedFirst) {
  Hazard hazard = Program(kShared);
  hazard.options.preload_before = {Runtime()};
  ASSERT_NE(hazard.options.preload_before[0], "");
  ExpectUnharmed(hazard);
}

TEST(SanitizerTest, AsALibraryThatIsToldNotToMindTheOrder) {
  Hazard hazard = Program(kShared);
  hazard.options.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0";
  ExpectUnharmed(hazard);
}

TEST(SanitizerTest, AsALibraryItRefusesToBeSecondInItsOwnWords) {
  const RunResult run = RunProgram(kShared, {}, {});
  EXPECT_EQ(WEXITSTATUS(run.wait_status), 1);
  EXPECT_NE(run.err.find("ASan runtime does not come first in initial library list"), std::string::npos) << run.err;
  EXPECT_NE(run.err.rfind("vramtrack: ", 0), 0u) << run.err;
  EXPECT_TRUE(run.traces.empty());
}

}  // namespace
}  // namespace vramtrack
