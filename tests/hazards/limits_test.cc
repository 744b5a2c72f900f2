// SPDX-License-Identifier: Apache-2.0
//
// Programs that have little left: of the disk, of memory, of descriptors. Tracing ends, the program does not notice.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

constexpr Expected kWhatever = {.processes = Expected::kAny,
                                .finished = Expected::kAny,
                                .allocations = Expected::kAny,
                                .frees = Expected::kAny,
                                .failures = Expected::kAny,
                                .unknown_frees = Expected::kAny,
                                .live = Expected::kAny,
                                .lost = Expected::kAny,
                                .lines = Expected::kAny};

void LimitInChild(Hazard* hazard, int resource, rlim_t value) {
  hazard->options.in_child = [=] {
    const rlimit limit = {value, value};
    setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  };
}

TEST(LimitsTest, OfFileSizes) {
  for (const rlim_t bytes : {0, 1000, 4096, 10000, 68000, 100000, 150000, 400000}) {
    SCOPED_TRACE(bytes);
    Hazard hazard{"", "little_left", {"file_bytes", std::to_string(bytes), "300000"}, kWhatever};
    hazard.expected.lines = 1;
    const RunResult run = ExpectUnharmed(hazard);
    for (const std::string& trace : run.traces) {
      struct stat status;
      ASSERT_EQ(stat(trace.c_str(), &status), 0);
      EXPECT_LE(static_cast<rlim_t>(status.st_size), bytes);
    }
  }
}

TEST(LimitsTest, OfMemory) {
  for (const char* what : {"as", "data"}) {
    uint64_t whole = 0;
    for (long kib = 0; kib <= 640 << 10; kib = kib < 1536 ? kib + 64 : kib * 5 / 4) {
      SCOPED_TRACE(std::string(what) + " " + std::to_string(kib));
      Hazard hazard{"", "little_left", {what, std::to_string(kib), "3000"}, kWhatever};
      const RunResult run = ExpectUnharmed(hazard);
      if (HasFailure()) return;
      whole += run.traces.size() == 1 && Count(run.traces[0]).operations[schema::ALLOCATE] == 3000;
    }
    EXPECT_GT(whole, 0u) << "nothing was ever recorded";
  }
}

TEST(LimitsTest, OfDescriptors) {
  for (const int descriptors : {3, 4, 5, 6, 8, 64, 256, 901, 4096}) {
    SCOPED_TRACE(descriptors);
    Hazard hazard{"", "little_left", {"files", std::to_string(descriptors), "3000"}, kWhatever};
    const RunResult run = ExpectUnharmed(hazard);
    if (descriptors >= 8) {
      ASSERT_EQ(run.traces.size(), 1u);
      EXPECT_EQ(Count(run.traces[0]).operations.at(schema::ALLOCATE), 3000u);
    }
  }
}

TEST(LimitsTest, OfTheStackAreNone) {
  Hazard hazard{"", "pairs", {"1000"}, {.allocations = 1000, .frees = 1000}};
  LimitInChild(&hazard, RLIMIT_STACK, RLIM_INFINITY);
  ExpectUnharmed(hazard);
}

// A file system of this test's own. False where that is not allowed.
bool MountSmallDisk(const std::string& folder, const std::string& size) {
  static const bool own_namespace = (unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) &&
                                    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return own_namespace && mount("none", folder.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
}

TEST(LimitsTest, OfTheDisk) {
  for (const char* size : {"4k", "8k", "64k", "76k", "100k", "200k", "1m"}) {
    SCOPED_TRACE(size);
    const std::string folder = NewTestFolder();
    if (!MountSmallDisk(folder, size)) GTEST_SKIP() << "file systems cannot be mounted here";
    Hazard hazard{"", "pairs", {"300000"}, kWhatever};
    hazard.expected.lines = 1;
    hazard.options.environment["VRAMTRACK_OUTPUT"] = folder + "/t.vtrace";
    ExpectUnharmed(hazard);
    const std::string trace = folder + "/t.vtrace";
    if (access(trace.c_str(), F_OK) == 0) {
      const TraceCounts counts = Count(trace);
      EXPECT_EQ(counts.unreadable_events, 0u);
      EXPECT_GT(counts.lost_events, 0u);
      EXPECT_FALSE(counts.finished);
    }
    umount(folder.c_str());
  }
}

TEST(LimitsTest, OfWritingAFolder) {
  const std::string folder = NewTestFolder();
  if (!MountSmallDisk(folder, "1m") || mount("none", folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
    GTEST_SKIP() << "file systems cannot be mounted here";
  }
  Hazard hazard{"", "pairs", {"1000"}, {.processes = 0, .finished = 0, .lines = 1}};
  hazard.options.environment["VRAMTRACK_OUTPUT"] = folder + "/t.vtrace";
  ExpectUnharmed(hazard);
  umount(folder.c_str());
}

}  // namespace
}  // namespace vramtrack
