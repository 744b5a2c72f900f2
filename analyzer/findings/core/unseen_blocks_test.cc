// SPDX-License-Identifier: Apache-2.0
//
// A job whose memory another allocator divides is not called clean, unless the blocks of that allocator are seen.
#include "analyzer/findings/core/unseen_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

constexpr uint32_t kLibrary = 1, kOwn = 2;

// A job with a library; 60 steps, each with an allocation of the program's own.
class Job : public JobBuilder {
 public:
  explicit Job(const std::string& library) {
    trace().DefineModule(0, 2, "/site-packages/" + library, 0x20000000, 0x20000000, 0x30000000);
    DefineNative(kLibrary, {0x20001000});
  }

  std::vector<std::string> Unsure(int steps = 60) {
    for (int step = 0; step < steps; ++step) {
      Free(Allocate(kOwn, kMiB));
      EndStep();
    }
    return FindInJob(this).unsure;
  }
};

TEST(UnseenBlocks, OfAPieceThatALibraryDividesAreNamed) {
  Job job("xla_cuda_plugin.so");
  job.Allocate(kLibrary, 4096 * kMiB);
  const std::vector<std::string> unsure = job.Unsure();
  ASSERT_EQ(unsure.size(), 1u);
  EXPECT_NE(unsure[0].find("xla_cuda_plugin.so holds 4.00 GiB of device 0"), std::string::npos) << unsure[0];
  EXPECT_NE(unsure[0].find("XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"), std::string::npos) << unsure[0];
}

TEST(UnseenBlocks, AreNamedWithoutStepsToo) {
  Job job("xla_cuda_plugin.so");
  job.Allocate(kLibrary, 4096 * kMiB);
  EXPECT_EQ(job.Unsure(0).size(), 1u);
}

TEST(UnseenBlocks, AreNotThoseOfOtherLibraries) {
  Job job("libcublas.so.13");
  job.Allocate(kLibrary, 4096 * kMiB);
  EXPECT_TRUE(job.Unsure().empty());
}

TEST(UnseenBlocks, AreNotAllocationsOfCudasPools) {
  Job job("xla_cuda_plugin.so");
  for (int i = 0; i < 10; ++i) job.Allocate(kLibrary, 1024 * kMiB, schema::STREAM_ORDERED);
  EXPECT_TRUE(job.Unsure().empty());
}

TEST(UnseenBlocks, AreNotManySmallAllocations) {
  Job job("xla_cuda_plugin.so");
  for (int i = 0; i < 1000; ++i) job.Allocate(kLibrary, kMiB);
  EXPECT_TRUE(job.Unsure().empty());
}

TEST(UnseenBlocks, AreNotThoseThatAreSeen) {
  Job job("libtensorflow_cc.so.2");
  const JobObject piece = job.Allocate(kLibrary, 4096 * kMiB);
  job.BlockAt(kOwn, piece.address + kMiB, kMiB);
  EXPECT_TRUE(job.Unsure().empty());
}

}  // namespace
}  // namespace vramtrack
