// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_TESTING_FIXTURE_FILES_H_
#define ANALYZER_SYMBOLS_TESTING_FIXTURE_FILES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Helpers for the tests in this folder. A failure ends the test program.
namespace vramtrack {

// Returns the path of a binary in fixtures/, for example "split/shapes".
std::string FixturePath(const std::string& name);

std::string ReadFile(const std::string& path);

// Writes a file and creates missing folders. Returns `path`.
std::string WriteFile(const std::string& path, const std::string& bytes);

// Creates an empty folder in the test's temporary folder and returns its path.
std::string NewFolder();

// Returns the output of `command`, which must succeed.
std::string OutputOf(const std::string& command);

// Returns the build id of an ELF file, as raw bytes.
std::string RawBuildId(const std::string& path);

// Returns `bytes`, the content of an ELF file, with another build id of the same length.
std::string WithOtherBuildId(std::string bytes, const std::string& raw_build_id);

// Returns {begin, end} of the section .text.
std::pair<uint64_t, uint64_t> TextRange(const std::string& path);

// The calls that the fixture program reports about itself: return addresses and the lines of the calls.
struct MarkedCall {
  uint64_t return_address;
  uint32_t line;
};
std::vector<MarkedCall> MarkedCalls();

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_TESTING_FIXTURE_FILES_H_
