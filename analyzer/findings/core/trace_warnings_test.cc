// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/trace_warnings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace vramtrack {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ModuleWarningsTest, FilesWithOneProblemAreOneWarning) {
  std::vector<ModuleStatus> modules(60);
  for (size_t i = 0; i < modules.size(); ++i) {
    modules[i].path = "/app/lib" + std::to_string(i) + ".so";
    modules[i].state = i < 40 ? ModuleState::kMissing : ModuleState::kBuildIdMismatch;
  }
  std::vector<std::string> warnings;
  AddModuleWarnings(modules, &warnings);
  ASSERT_EQ(warnings.size(), 2u);
  std::sort(warnings.begin(), warnings.end());
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("20 "), HasSubstr("/app/lib40.so")));
  EXPECT_THAT(warnings[1], AllOf(HasSubstr("40 "), HasSubstr("/app/lib0.so"), HasSubstr("--search-path")));
}

}  // namespace
}  // namespace vramtrack
