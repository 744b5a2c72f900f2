// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_FIXTURE_FILES_H_
#define ANALYZER_SYMBOLS_FIXTURE_FILES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Help for the tests in this folder. Failures end the test program.
namespace vramtrack {

// The path of a binary of fixtures/, for example "split/shapes".
std::string FixturePath(const std::string& name);

std::string ReadFile(const std::string& path);

// Makes the folders that are missing. Returns `path`.
std::string WriteFile(const std::string& path, const std::string& bytes);

// A new, empty folder below the test's own temporary one.
std::string NewFolder();

// What `command` prints; it has to succeed.
std::string OutputOf(const std::string& command);

// The build id of an ELF file, raw.
std::string RawBuildId(const std::string& path);

// `bytes` of an ELF file with another build id of the same length.
std::string WithOtherBuildId(std::string bytes, const std::string& raw_build_id);

// {begin, end} of the section .text.
std::pair<uint64_t, uint64_t> TextRange(const std::string& path);

// What the fixture program says about itself: return addresses and the lines of their calls.
struct MarkedCall {
  uint64_t return_address;
  uint32_t line;
};
std::vector<MarkedCall> MarkedCalls();

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_FIXTURE_FILES_H_
