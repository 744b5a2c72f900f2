// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/source_paths.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vramtrack {
namespace {

TEST(SourcePaths, AreFromTheRoot) {
  std::string folder = ::testing::TempDir() + "/sources.XXXXXX";
  ASSERT_NE(mkdtemp(&folder[0]), nullptr);
  std::filesystem::create_directories(folder + "/src/model");
  std::ofstream(folder + "/src/model/train.py") << "pass\n";
  std::ofstream(folder + "/main.py") << "pass\n";

  SourcePaths paths(folder + "/");
  EXPECT_EQ(paths.FromRoot(folder + "/src/model/train.py"), "src/model/train.py");
  EXPECT_EQ(paths.FromRoot(folder + "/src/../gone.py"), "gone.py") << "below the root, whether it is there or not";
  EXPECT_EQ(paths.FromRoot("/builder/7/job/src/model/train.py"), "src/model/train.py") << "compiled elsewhere";
  EXPECT_EQ(paths.FromRoot("/builder/model/train.py"), "/builder/model/train.py");
  EXPECT_EQ(paths.FromRoot("/elsewhere/main.py"), "/elsewhere/main.py") << "one name is in many places";
  EXPECT_EQ(paths.FromRoot("src/model/other.py"), "src/model/other.py");
  EXPECT_EQ(paths.FromRoot("./src/./a.cu"), "src/a.cu");
  EXPECT_EQ(paths.FromRoot("/a/../elsewhere/main.py"), "/elsewhere/main.py");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace vramtrack
