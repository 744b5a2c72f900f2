// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/module_locator.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/testing/fixture_files.h"

namespace vramtrack {
namespace {

// Where the binary was on the machine that recorded; nothing is there now.
constexpr char kRecordedPath[] = "/no/such/folder/job/shapes";

class ModuleLocatorTest : public testing::Test {
 protected:
  ModuleLocatorTest()
      : bytes_(ReadFile(FixturePath("split/shapes"))),
        debug_bytes_(ReadFile(FixturePath("split/shapes.debug"))),
        id_(RawBuildId(FixturePath("split/shapes"))),
        folder_(NewFolder()) {
    search_.debug_root = folder_ + "/usr/lib/debug";
  }

  // The recorded path's name for a copy that is still there.
  LocatedModule Locate(const std::string& path) const { return LocateModule({path, id_}, search_); }

  static std::string PathOf(const std::unique_ptr<ElfFile>& file) { return file != nullptr ? file->path() : ""; }

  const std::string bytes_;
  const std::string debug_bytes_;
  const std::string id_;
  const std::string folder_;
  ModuleSearch search_;
};

TEST_F(ModuleLocatorTest, TheRecordedPath) {
  const std::string path = WriteFile(folder_ + "/bin/shapes", bytes_);
  EXPECT_EQ(PathOf(Locate(path).binary), path);
  EXPECT_EQ(Locate(path).debug, nullptr);
  EXPECT_EQ(Locate(path).refused_path, "");
}

TEST_F(ModuleLocatorTest, BuildIdsAsHexOfEitherCase) {
  const std::string path = WriteFile(folder_ + "/bin/shapes", bytes_);
  std::string hex = BuildIdToHex(id_);
  EXPECT_EQ(PathOf(LocateModule({path, hex}, search_).binary), path);
  for (char& c : hex) c = static_cast<char>(toupper(c));
  EXPECT_EQ(PathOf(LocateModule({path, hex}, search_).binary), path);
}

TEST_F(ModuleLocatorTest, ByNameInASearchPath) {
  const std::string path = WriteFile(folder_ + "/copies/shapes", bytes_);
  EXPECT_EQ(Locate(kRecordedPath).binary, nullptr);
  search_.search_paths = {folder_ + "/missing", folder_ + "/copies/"};
  EXPECT_EQ(PathOf(Locate(kRecordedPath).binary), path);
}

TEST_F(ModuleLocatorTest, ByWholePathInASearchPath) {
  const std::string path = WriteFile(folder_ + "/root" + kRecordedPath, bytes_);
  search_.search_paths = {folder_ + "/root"};
  EXPECT_EQ(PathOf(Locate(kRecordedPath).binary), path);
}

TEST_F(ModuleLocatorTest, ByReplacedFolder) {
  const std::string path = WriteFile(folder_ + "/new/job/shapes", bytes_);
  search_.path_replacements = {{"/no/such/fold", folder_ + "/new"}};
  EXPECT_EQ(Locate(kRecordedPath).binary, nullptr) << "half a folder's name was replaced";
  for (const char* from : {"/no/such/folder", "/no/such/folder/"}) {
    search_.path_replacements = {{from, folder_ + "/new"}};
    EXPECT_EQ(PathOf(Locate(kRecordedPath).binary), path);
  }
}

TEST_F(ModuleLocatorTest, WhatTheUserNamedComesBeforeTheRecordedPath) {
  const std::string recorded = WriteFile(folder_ + "/bin/shapes", bytes_);
  const std::string copy = WriteFile(folder_ + "/copies/shapes", bytes_);
  search_.search_paths = {folder_ + "/copies"};
  EXPECT_EQ(PathOf(LocateModule({recorded, ""}, search_).binary), copy);
}

TEST_F(ModuleLocatorTest, AnotherBuildIsPassedOver) {
  const std::string other = WriteFile(folder_ + "/bin/shapes", WithOtherBuildId(bytes_, id_));
  EXPECT_EQ(Locate(other).binary, nullptr);
  EXPECT_EQ(Locate(other).refused_path, other);
  // The right one further down the list is still found.
  const std::string right = WriteFile(folder_ + "/right/shapes", bytes_);
  WriteFile(folder_ + "/wrong/shapes", WithOtherBuildId(bytes_, id_));
  search_.search_paths = {folder_ + "/wrong", folder_ + "/right"};
  EXPECT_EQ(PathOf(Locate(other).binary), right);
}

TEST_F(ModuleLocatorTest, AFileWithoutBuildIdIsNotTheRecordedOne) {
  const std::string path = WriteFile(folder_ + "/bin/shapes", ReadFile(FixturePath("anonymous/shapes")));
  EXPECT_EQ(Locate(path).binary, nullptr);
  EXPECT_EQ(Locate(path).refused_path, path);
  EXPECT_EQ(PathOf(LocateModule({path, ""}, search_).binary), path);
}

TEST_F(ModuleLocatorTest, ADeletedFilesSuccessorNeedsABuildId) {
  const std::string path = WriteFile(folder_ + "/bin/shapes", bytes_);
  EXPECT_EQ(PathOf(LocateModule({path + " (deleted)", id_}, search_).binary), path);
  EXPECT_EQ(LocateModule({path + " (deleted)", ""}, search_).binary, nullptr);
  search_.search_paths = {folder_ + "/bin"};
  EXPECT_EQ(LocateModule({path + " (deleted)", ""}, search_).binary, nullptr) << "the same file by another way";
}

// Without a build id the code that ran decides, and where the job had the file, also when it was written.
class ModuleWithoutBuildIdTest : public ModuleLocatorTest {
 protected:
  ModuleWithoutBuildIdTest() : path_(WriteFile(folder_ + "/bin/shapes", ReadFile(FixturePath("anonymous/shapes")))) {
    module_.path = path_;
    module_.text_hash = ElfFile::Open(path_)->TextHashOfFile();
    struct stat status;
    EXPECT_EQ(stat(path_.c_str(), &status), 0);
    module_.file_bytes = static_cast<uint64_t>(status.st_size);
    module_.modified_ns =
        static_cast<uint64_t>(status.st_mtim.tv_sec) * 1000000000 + static_cast<uint64_t>(status.st_mtim.tv_nsec);
  }

  static void WriteLater(const std::string& path) {
    const timespec times[] = {{2000000000, 0}, {2000000000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  std::string Found() const { return PathOf(LocateModule(module_, search_).binary); }

  const std::string path_;
  ModuleRef module_;
};

TEST_F(ModuleWithoutBuildIdTest, TheFileThatRanIsFound) { EXPECT_EQ(Found(), path_); }

TEST_F(ModuleWithoutBuildIdTest, AFileWithOtherCodeIsNot) {
  module_.text_hash ^= 1;
  EXPECT_EQ(Found(), "");
  EXPECT_EQ(LocateModule(module_, search_).refused_path, path_);
}

TEST_F(ModuleWithoutBuildIdTest, AFileThatWasWrittenSinceIsNotThoughItsCodeIsTheSame) {
  WriteLater(path_);
  EXPECT_EQ(Found(), "");
  EXPECT_EQ(LocateModule(module_, search_).refused_path, path_);
}

TEST_F(ModuleWithoutBuildIdTest, TheRecordedFileIsNoCopyByAnotherPath) {
  WriteLater(path_);
  search_.search_paths = {folder_ + "/./bin"};
  EXPECT_EQ(Found(), "");
}

TEST_F(ModuleWithoutBuildIdTest, ACopyHasAnyTimeAndMayBeStripped) {
  const std::string copy = WriteFile(folder_ + "/copies/shapes", ReadFile(path_));
  WriteLater(copy);
  WriteLater(path_);
  search_.search_paths = {folder_ + "/copies"};
  EXPECT_EQ(Found(), copy);
  OutputOf("strip " + copy);
  EXPECT_EQ(Found(), copy);
  WriteFile(copy, bytes_);
  EXPECT_EQ(Found(), "") << "another build";
}

TEST_F(ModuleWithoutBuildIdTest, ARelativePathIsNotLookedUpHere) {
  const std::string relative = "build_id_less_shapes";
  WriteFile(relative, ReadFile(path_));
  module_.path = "./" + relative;
  EXPECT_EQ(Found(), "");
  unlink(relative.c_str());
}

TEST_F(ModuleLocatorTest, DebugFilesByBuildId) {
  const std::string path = WriteFile(folder_ + "/bin/shapes", bytes_);
  const std::string below = "/.build-id/" + BuildIdDebugPath(BuildIdToHex(id_));
  const std::string system = WriteFile(search_.debug_root + below, debug_bytes_);
  EXPECT_EQ(PathOf(Locate(path).debug), system);
  EXPECT_EQ(PathOf(LocateModule({path, ""}, search_).debug), system) << "the binary's own id serves";
  const std::string copy = WriteFile(folder_ + "/copies" + below, debug_bytes_);
  search_.search_paths = {folder_ + "/copies"};
  EXPECT_EQ(PathOf(Locate(path).debug), copy);
  // It also stands in for a binary that is gone.
  EXPECT_EQ(Locate(kRecordedPath).binary, nullptr);
  EXPECT_EQ(PathOf(Locate(kRecordedPath).debug), copy);
}

TEST_F(ModuleLocatorTest, ADebugFileOfAnotherBuildIsPassedOver) {
  const std::string path = WriteFile(folder_ + "/bin/shapes", bytes_);
  WriteFile(search_.debug_root + "/.build-id/" + BuildIdDebugPath(BuildIdToHex(id_)),
            WithOtherBuildId(debug_bytes_, id_));
  WriteFile(folder_ + "/bin/shapes.debug", WithOtherBuildId(debug_bytes_, id_));
  EXPECT_EQ(PathOf(Locate(path).binary), path);
  EXPECT_EQ(Locate(path).debug, nullptr);
}

TEST_F(ModuleLocatorTest, DebugFilesByLink) {
  const std::string path = WriteFile(folder_ + "/bin/shapes", bytes_);
  search_.search_paths = {folder_ + "/copies"};
  // From the last choice to the first.
  for (const std::string& place :
       {folder_ + "/copies" + folder_ + "/bin/shapes.debug", folder_ + "/copies/.debug/shapes.debug",
        folder_ + "/copies/shapes.debug", search_.debug_root + folder_ + "/bin/shapes.debug",
        folder_ + "/bin/.debug/shapes.debug", folder_ + "/bin/shapes.debug"}) {
    WriteFile(place, debug_bytes_);
    EXPECT_EQ(PathOf(Locate(path).debug), place);
  }
}

TEST_F(ModuleLocatorTest, DebugFilesByLinkOfASymbolicLink) {
  const std::string path = WriteFile(folder_ + "/real/shapes", bytes_);
  const std::string debug = WriteFile(folder_ + "/real/shapes.debug", debug_bytes_);
  const std::string link = folder_ + "/shapes";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  LocatedModule module = Locate(link);
  EXPECT_EQ(PathOf(module.binary), link);
  EXPECT_EQ(PathOf(module.debug), debug);
}

TEST_F(ModuleLocatorTest, WithoutBuildIdsTheChecksumDecides) {
  const std::string bytes = ReadFile(FixturePath("anonymous/shapes"));
  std::string debug_bytes = ReadFile(FixturePath("anonymous/shapes.debug"));
  const std::string path = WriteFile(folder_ + "/bin/shapes", bytes);
  const std::string debug = WriteFile(folder_ + "/bin/shapes.debug", debug_bytes);
  EXPECT_EQ(PathOf(LocateModule({path, ""}, search_).debug), debug);
  debug_bytes.back() = static_cast<char>(debug_bytes.back() + 1);
  WriteFile(debug, debug_bytes);
  EXPECT_EQ(LocateModule({path, ""}, search_).debug, nullptr);
}

TEST_F(ModuleLocatorTest, FoldersPipesAndTextAreNoBinaries) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string text = WriteFile(folder_ + "/text", "#!/bin/sh\n");
  const std::string empty = WriteFile(folder_ + "/empty", "");
  for (const std::string& path : {folder_, pipe, text, empty}) {
    LocatedModule module = LocateModule({path, ""}, search_);
    EXPECT_EQ(module.binary, nullptr) << path;
    EXPECT_TRUE(module.unreadable) << path;
  }
}

TEST(ModulePathTest, WhatMapsSaysAboutPaths) {
  EXPECT_EQ(WithoutDeletedMark("/a/b (deleted)"), "/a/b");
  EXPECT_EQ(WithoutDeletedMark("/a/b"), "/a/b");
  EXPECT_EQ(WithoutDeletedMark(" (deleted)"), " (deleted)");
  EXPECT_TRUE(IsFilePath("/dev/shm/plugin.so"));
  for (const char* path : {"", "[vdso]", "[heap]", "/memfd:jit", "//anon", "/SYSV00000000", "/dev/nvidia-uvm",
                           "/dev/zero", "anon_inode:[perf_event]"}) {
    EXPECT_FALSE(IsFilePath(path)) << path;
  }
}

}  // namespace
}  // namespace vramtrack
