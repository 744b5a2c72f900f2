// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/source_lines.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

class ReadSourceTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = absl::StrCat(::testing::TempDir(), "/", getpid(), ".", name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static Report ReportOf(const std::vector<std::pair<std::string, uint32_t>>& frames,
                         ReportFrame::Origin origin = ReportFrame::Origin::kJob) {
    Report report;
    report.sites.emplace_back();
    for (const auto& [file, line] : frames) {
      ReportFrame& frame = report.sites[0].frames.emplace_back();
      frame.file = file;
      frame.line = line;
      frame.origin = origin;
    }
    return report;
  }
  static std::vector<std::string> LinesAt(const std::string& path, uint32_t line) {
    const std::vector<SourceExcerpt> excerpts = ReadSource(ReportOf({{path, line}}), {});
    return excerpts.empty() ? std::vector<std::string>() : excerpts[0].lines;
  }
};

TEST_F(ReadSourceTest, TakesThreeLinesOnBothSides) {
  const std::string path = Write("a.py", "1\n2\n3\n4\n5\n6\n7\n8\n9");
  const std::vector<SourceExcerpt> excerpts = ReadSource(ReportOf({{path, 5}, {path, 1}, {path, 9}, {path, 5}}), {});
  ASSERT_EQ(excerpts.size(), 3u);
  EXPECT_EQ(excerpts[0].line, 1u);
  EXPECT_EQ(excerpts[0].first, 1u);
  EXPECT_EQ(excerpts[0].lines, (std::vector<std::string>{"1", "2", "3", "4"}));
  EXPECT_EQ(excerpts[1].first, 2u);
  EXPECT_EQ(excerpts[1].lines, (std::vector<std::string>{"2", "3", "4", "5", "6", "7", "8"}));
  EXPECT_EQ(excerpts[2].lines, (std::vector<std::string>{"6", "7", "8", "9"}));
  EXPECT_EQ(excerpts[1].file, path);
}

TEST_F(ReadSourceTest, WritesTabsAsSpacesAndCutsLongLines) {
  const std::string path = Write("b.cu", absl::StrCat("\ta\tb\r\n", std::string(399, 'x'), "ä", std::string(9, 'y')));
  const std::vector<std::string> lines = LinesAt(path, 1);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "    a   b");
  EXPECT_EQ(lines[1], absl::StrCat(std::string(399, 'x'), "ä…"));
}

TEST_F(ReadSourceTest, ReadsNothingButSourceFilesThatAreText) {
  // Whoever made the trace chose the names.
  EXPECT_TRUE(LinesAt(Write("secret", "key\n"), 1).empty());
  EXPECT_TRUE(LinesAt(Write("id.pem", "key\n"), 1).empty());
  EXPECT_TRUE(LinesAt("/etc/passwd", 1).empty());
  EXPECT_TRUE(LinesAt(::testing::TempDir(), 1).empty());
  EXPECT_TRUE(LinesAt("/dev/zero", 1).empty());
  EXPECT_TRUE(LinesAt("", 1).empty());
  EXPECT_TRUE(LinesAt(Write("latin.py", "a\n\xe4\n"), 1).empty());
  EXPECT_TRUE(LinesAt(Write("half.py", "a\n\xed\xa0\x80\n"), 1).empty());
  EXPECT_TRUE(LinesAt(Write("long.py", "a\n\xc0\x80\n"), 1).empty());
  EXPECT_EQ(LinesAt(Write("utf.py", "张伟\n"), 1), std::vector<std::string>{"张伟"});
  EXPECT_TRUE(LinesAt(Write("large.py", std::string(kMaxSourceFileBytes + 1, '\n')), 1).empty());
  EXPECT_FALSE(LinesAt(Write("large.py", std::string(kMaxSourceFileBytes, '\n')), 1).empty());
  const std::string pipe = Write("pipe.py", "");
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(LinesAt(pipe, 1).empty()) << "nor waits for anybody";
}

TEST_F(ReadSourceTest, ReadsNothingThatALinkHides) {
  const std::string secret = Write("secret", "key\n"), link = secret + ".py", source = Write("real.py", "1\n");
  unlink(link.c_str());
  ASSERT_EQ(symlink(secret.c_str(), link.c_str()), 0);
  EXPECT_TRUE(LinesAt(link, 1).empty());
  unlink(link.c_str());
  ASSERT_EQ(symlink(source.c_str(), link.c_str()), 0);
  EXPECT_EQ(LinesAt(link, 1).size(), 1u);
}

// Root can read everybody's files; the page may go to anybody.
TEST_F(ReadSourceTest, ReadsOnlyFilesOfTheReaderOrOfWhoRecorded) {
  const std::string path = Write("mine.py", "1\n"), trace = Write("mine.vtrace", "");
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  const uid_t somebody = geteuid() + 1;
  EXPECT_TRUE(ReadSource(ReportOf({{path, 1}}), {}, somebody).empty());
  EXPECT_EQ(ReadSource(ReportOf({{path, 1}}), {trace}, somebody).size(), 1u);
  EXPECT_EQ(ReadSource(ReportOf({{path, 1}}), {}).size(), 1u);
}

TEST_F(ReadSourceTest, LeavesOutLinesThatTheFileHasNot) {
  const std::string path = Write("short.h", "1\n2\n");
  EXPECT_TRUE(LinesAt(path, 0).empty());
  EXPECT_EQ(LinesAt(path, 2).size(), 2u);
  EXPECT_TRUE(LinesAt(path, 3).empty());
  EXPECT_TRUE(LinesAt(path, UINT32_MAX).empty());
}

TEST_F(ReadSourceTest, LeavesOutWhatIsNotTheJobs) {
  const std::string path = Write("lib.py", "1\n");
  EXPECT_TRUE(ReadSource(ReportOf({{path, 1}}, ReportFrame::Origin::kLibrary), {}).empty());
  Report failed;
  failed.oom.emplace_back().stack = ReportOf({{path, 1}}).sites[0].frames;
  EXPECT_EQ(ReadSource(failed, {}).size(), 1u);
}

TEST_F(ReadSourceTest, TellsWhetherTheFileIsNewerThanTheTrace) {
  const std::string path = Write("c.cc", "1\n");
  EXPECT_FALSE(ReadSource(ReportOf({{path, 1}}), {})[0].changed);
  const std::string trace = Write("a.vtrace", "");
  for (const int seconds : {100, -100}) {
    const utimbuf time = {std::time(nullptr) + seconds, std::time(nullptr) + seconds};
    ASSERT_EQ(utime(trace.c_str(), &time), 0);
    EXPECT_EQ(ReadSource(ReportOf({{path, 1}}), {trace})[0].changed, seconds < 0);
  }
}

}  // namespace
}  // namespace vramtrack
