// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_TESTING_TEST_FOLDER_H_
#define ANALYZER_BASE_TESTING_TEST_FOLDER_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace vramtrack {

// A folder for the files of a test. It is removed with all that is in it.
class TestFolder {
 public:
  TestFolder() : path_(testing::TempDir() + "/folder.XXXXXX") { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }

  // Returns the path of a file that does not exist yet. Files are numbered.
  std::string NewFile(const std::string& suffix = ".vtrace") { return path_ + "/" + std::to_string(files_++) + suffix; }
  // Writes a new file and returns its path.
  std::string Write(const std::string& bytes, const std::string& suffix = ".vtrace") {
    return WriteTo(NewFile(suffix), bytes);
  }
  std::string WriteAs(const std::string& name, const std::string& bytes) { return WriteTo(path_ + "/" + name, bytes); }
  // Writes one new file for each element and returns their paths in the same order.
  std::vector<std::string> WriteAll(const std::vector<std::string>& files) {
    std::vector<std::string> paths;
    for (const std::string& bytes : files) paths.push_back(Write(bytes));
    return paths;
  }

 private:
  static std::string WriteTo(std::string path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  std::string path_;
  size_t files_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_BASE_TESTING_TEST_FOLDER_H_
