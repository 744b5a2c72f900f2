// SPDX-License-Identifier: Apache-2.0
//
// A job whose memory another allocator divides is not called clean, unless the blocks of that allocator are seen.
#include "analyzer/findings/core/unseen_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/findings/find_in_process.h"
#include "proto/trace_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// 60 steps, each with an allocation of the program's own.
class Job {
 public:
  explicit Job(const std::string& library) {
    trace_.DefineProcess(0, 1, {"python", "train.py"});
    trace_.DefineModule(0, 1, "/site-packages/" + library, 0x400000, 0x400000, 0x500000);
    trace_.DefineModule(0, 2, "/job/train", 0x800000, 0x800000, 0x900000);
    trace_.DefineStack(0, 1, {0x401000});
    trace_.DefineStack(0, 2, {0x801000});
  }

  void Allocate(uint64_t bytes, schema::Kind kind = schema::DEVICE) {
    trace_.Allocate(0, ++time_, kind, 0, 1, address_, bytes);
    address_ += bytes;
  }
  void AllocateBlock(uint64_t offset) {
    trace_.Allocate(0, ++time_, schema::FRAMEWORK_BLOCK, 0, 2, (uint64_t{1} << 40) + offset, kMiB);
  }

  std::vector<std::string> Unsure(int steps = 60) {
    for (int step = 0; step < steps; ++step) {
      const AllocationId own = trace_.Allocate(0, ++time_, schema::DEVICE, 0, 2, uint64_t{1} << 44, kMiB);
      trace_.Free(0, ++time_, schema::DEVICE, 0, own);
      trace_.Step(0, ++time_, static_cast<uint64_t>(step));
    }
    const std::string file = trace_.Finish();
    auto trace = Trace::Read(file, "test");
    EXPECT_TRUE(trace.ok()) << trace.status();
    return FindInProcess(**trace, {}).unsure;
  }

 private:
  TraceBuilder trace_;
  uint64_t time_ = 0, address_ = uint64_t{1} << 40;
};

TEST(UnseenBlocks, OfAPieceThatALibraryDividesAreNamed) {
  Job job("xla_cuda_plugin.so");
  job.Allocate(4096 * kMiB);
  const std::vector<std::string> unsure = job.Unsure();
  ASSERT_EQ(unsure.size(), 1u);
  EXPECT_NE(unsure[0].find("xla_cuda_plugin.so holds 4.00 GiB of device 0"), std::string::npos) << unsure[0];
  EXPECT_NE(unsure[0].find("XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"), std::string::npos) << unsure[0];
}

TEST(UnseenBlocks, AreNamedWithoutStepsToo) {
  Job job("xla_cuda_plugin.so");
  job.Allocate(4096 * kMiB);
  EXPECT_EQ(job.Unsure(0).size(), 1u);
}

TEST(UnseenBlocks, AreNotThoseOfOtherLibraries) {
  Job job("libcublas.so.13");
  job.Allocate(4096 * kMiB);
  EXPECT_TRUE(job.Unsure().empty());
}

TEST(UnseenBlocks, AreNotAllocationsOfCudasPools) {
  Job job("xla_cuda_plugin.so");
  for (int i = 0; i < 10; ++i) job.Allocate(1024 * kMiB, schema::STREAM_ORDERED);
  EXPECT_TRUE(job.Unsure().empty());
}

TEST(UnseenBlocks, AreNotManySmallAllocations) {
  Job job("xla_cuda_plugin.so");
  for (int i = 0; i < 1000; ++i) job.Allocate(kMiB);
  EXPECT_TRUE(job.Unsure().empty());
}

TEST(UnseenBlocks, AreNotThoseThatAreSeen) {
  Job job("libtensorflow_cc.so.2");
  job.Allocate(4096 * kMiB);
  job.AllocateBlock(kMiB);
  EXPECT_TRUE(job.Unsure().empty());
}

}  // namespace
}  // namespace vramtrack
