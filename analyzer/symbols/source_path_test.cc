// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/source_path.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

TEST(SourcePathTest, FoldsDots) {
  EXPECT_EQ(FoldedPath("/a/./b//c/../d"), "/a/b/d");
  EXPECT_EQ(FoldedPath("./a/b/.."), "a");
  EXPECT_EQ(FoldedPath("../../a/../b"), "../../b");
  EXPECT_EQ(FoldedPath("/../a"), "/a");
  EXPECT_EQ(FoldedPath("/"), "/");
  EXPECT_EQ(FoldedPath("a/.."), ".");
}

TEST(SourcePathTest, RelativeNamesAreBelowTheCompilationFolder) {
  EXPECT_EQ(SourcePath("src/../a.cc", "/home/me/job"), "/home/me/job/a.cc");
  EXPECT_EQ(SourcePath("/opt/a.h", "/home/me/job"), "/opt/a.h");
  EXPECT_EQ(SourcePath("a.cc", ""), "a.cc");
  EXPECT_EQ(SourcePath("a.cc", "build"), "a.cc");
  EXPECT_EQ(SourcePath("", "/home/me"), "");
  EXPECT_EQ(SourcePath("<artificial>", "/home/me"), "<artificial>");
}

TEST(SourcePathTest, FilesOfABazelBuildAreRelativeToTheWorkspace) {
  EXPECT_EQ(SourcePath("testdata/a.cu", "/proc/self/cwd"), "testdata/a.cu");
  EXPECT_EQ(SourcePath("./testdata/a.cu", "/proc/self/cwd"), "testdata/a.cu");
  EXPECT_EQ(SourcePath("/proc/self/cwd/testdata/a.cu", "/proc/self/cwd"), "testdata/a.cu");
  EXPECT_EQ(SourcePath("/proc/self/cwd2/a.cu", ""), "/proc/self/cwd2/a.cu");
  EXPECT_EQ(SourcePath("t/a.cu", "/c/_bazel_me/0123abc/sandbox/linux-sandbox/7/execroot/vramtrack"), "t/a.cu");
  EXPECT_EQ(SourcePath("/c/_bazel_me/0123abc/execroot/job/t/a.cu", ""), "t/a.cu");
  EXPECT_EQ(SourcePath("/home/me/execroot/job/a.cu", ""), "/home/me/execroot/job/a.cu");
}

TEST(SourcePathTest, TemporaryFilesOfNvccAreUnknown) {
  EXPECT_EQ(SourcePath("/tmp/tmpxft_00004253_00000000-6_t.cudafe1.stub.c", "/tmp"), "");
  EXPECT_EQ(SourcePath("/src/not_tmpxft_1.cc", "/src"), "/src/not_tmpxft_1.cc");
}

TEST(SourcePathTest, CudaSourcesByName) {
  EXPECT_TRUE(IsCudaSource("a/b.cu"));
  EXPECT_TRUE(IsCudaSource("b.cuh"));
  EXPECT_FALSE(IsCudaSource("b.cc"));
  EXPECT_FALSE(IsCudaSource("acu"));
}

}  // namespace
}  // namespace vramtrack
