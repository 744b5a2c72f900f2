// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/fatal_end.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "analyzer/base/mapped_range.h"
#include "analyzer/cli/output.h"
#include "analyzer/ingest/mapped_file.h"

namespace vramtrack {
namespace {

int Deep(volatile int* depth) {
  volatile int more[100] = {*depth};
  *depth = *depth + 1;
  return *depth < 0 ? 0 : Deep(depth) + more[*depth % 100];
}

[[noreturn]] void Main(const std::function<int()>& run) {
  InstallFatalEnds();
  _exit(RunToExitCode(run));
}

std::string TestFolder() {
  const std::string folder = testing::TempDir() + "/fatal_end";
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(FatalEnd, OfExceptions) {
  EXPECT_EXIT(Main([] { return 3; }), testing::ExitedWithCode(3), "^$");
  EXPECT_EXIT(Main([]() -> int { throw std::bad_alloc(); }), testing::ExitedWithCode(2),
              "^vramtrack: out of memory.*\n$");
  EXPECT_EXIT(Main([]() -> int { throw std::length_error("x"); }), testing::ExitedWithCode(2),
              "^vramtrack: an input is corrupt.*\n$");
  EXPECT_EXIT(Main([]() -> int { throw std::runtime_error("a\nb"); }), testing::ExitedWithCode(2),
              "^vramtrack: internal error: a[?]b\n$");
  EXPECT_EXIT(Main([]() -> int { throw 1; }), testing::ExitedWithCode(2), "^vramtrack: internal error.*\n$");
  EXPECT_EXIT(Main([] {
                std::thread([] { throw std::bad_alloc(); }).join();
                return 0;
              }),
              testing::ExitedWithCode(2), "^vramtrack: out of memory.*\n$");
}

TEST(FatalEnd, OfAStackThatIsUsedUp) {
  EXPECT_EXIT(Main([] {
                volatile int depth = 0;
                return Deep(&depth);
              }),
              testing::ExitedWithCode(2), "^vramtrack: stack overflow.*\n$");
}

TEST(FatalEnd, OtherFaultsStayWhatTheyAre) {
  volatile uintptr_t nowhere = 8;
  EXPECT_EXIT(Main([&nowhere] { return *reinterpret_cast<volatile int*>(nowhere); }), testing::KilledBySignal(SIGSEGV),
              "^$");
}

TEST(FatalEnd, OfAFileThatIsCutShort) {
  const std::string path = TestFolder() + "/mapped";
  std::ofstream(path) << std::string(20000, 'x');
  EXPECT_EXIT(Main([&path] {
                const auto file = MappedFile::Open(path);
                std::filesystem::resize_file(path, 0);
                return static_cast<int>(file->bytes()[10000]);
              }),
              testing::ExitedWithCode(2), "^vramtrack: .*/mapped: truncated while it was read.*\n$");
}

TEST(FatalEnd, GoesOnAfterATruncation) {
  const std::string path = TestFolder() + "/mapped";
  std::ofstream(path) << std::string(20000, 'x');
  EXPECT_EXIT(Main([&path] {
                GoOnAfterTruncations();
                const auto file = MappedFile::Open(path);
                std::filesystem::resize_file(path, 5000);
                const std::string_view bytes = file->bytes();
                const bool read = bytes[100] == 'x' && bytes[10000] == 0 && bytes[19999] == 0 && bytes[100] == 'x';
                return read && ReplacedEnds() == 1 ? 7 : 8;
              }),
              testing::ExitedWithCode(7), "^$");
}

TEST(FatalEnd, LeavesNoUnfinishedFile) {
  const std::string folder = TestFolder() + "/unfinished";
  std::filesystem::create_directories(folder);
  EXPECT_EXIT(Main([&folder]() -> int {
                OutputStream out(folder + "/out");
                out.Write(std::string(100000, 'x'));
                std::thread([] { throw std::bad_alloc(); }).join();
                return 0;
              }),
              testing::ExitedWithCode(2), "out of memory");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(FatalEnd, AsTheCommandEnded) {
  EXPECT_EXIT(Main([]() -> int {
                EndFatallyWith([] { _exit(77); });
                throw std::bad_alloc();
              }),
              testing::ExitedWithCode(77), "out of memory");
}

TEST(FatalEnd, IsPreparedBeforeTheLine) {
  EXPECT_EXIT(Main([]() -> int {
                PrepareFatalEndWith([] { [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, "first,", 6); });
                throw std::bad_alloc();
              }),
              testing::ExitedWithCode(2), "^first,vramtrack: out of memory");
}

}  // namespace
}  // namespace vramtrack
