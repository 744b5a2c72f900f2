// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/trace_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vramtrack {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(ModuleWarningsTest, FilesWithOneProblemAreOneWarning) {
  std::vector<ModuleStatus> modules(60);
  for (size_t i = 0; i < modules.size(); ++i) {
    modules[i].path = "/app/lib" + std::to_string(i) + ".so";
    modules[i].state = i < 40 ? ModuleState::kMissing : ModuleState::kBuildIdMismatch;
  }
  std::vector<std::string> warnings;
  AddModuleWarnings(modules, &warnings);
  EXPECT_THAT(warnings,
              UnorderedElementsAre(AllOf(HasSubstr("40 "), HasSubstr("/app/lib0.so"), HasSubstr("--search-path")),
                                   AllOf(HasSubstr("20 "), HasSubstr("/app/lib40.so"))));
}

}  // namespace
}  // namespace vramtrack
