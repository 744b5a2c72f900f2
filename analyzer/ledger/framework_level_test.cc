// SPDX-License-Identifier: Apache-2.0
//
// Compares the ledger of a device with a framework level with a reference that recomputes all sums after every event.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/failure_log.h"
#include "analyzer/peaks/framework_check.h"
#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

using schema::DEVICE;
using schema::FRAMEWORK_BLOCK;

constexpr uint64_t kMiB = 1 << 20;

StepPlan Marks() {
  StepPlan plan;
  plan.mark_slot = ThreadSlot(0);
  return plan;
}

std::unique_ptr<Trace> Read(std::string file) {
  static std::deque<std::string> files;  // a trace does not copy its bytes
  files.push_back(std::move(file));
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(files.back(), "test");
  EXPECT_TRUE(trace.ok()) << trace.status();
  return *std::move(trace);
}

const Scope& Framework(const Ledger& ledger, uint32_t device = 0) {
  for (const Scope& scope : ledger.scopes()) {
    if (scope.level == Level::kFramework && scope.device == DeviceIndex(device)) return scope;
  }
  ADD_FAILURE() << "no framework's level";
  return ledger.scopes()[0];
}

void ExpectAddsUp(const Moment& moment) {
  const FrameworkShare& share = moment.framework;
  EXPECT_EQ(moment.usage.reserved, moment.usage.live + share.cached);
  EXPECT_EQ(moment.device_used, moment.usage.reserved + share.others + share.overhead + share.unattributed);
  EXPECT_LE(share.releasable, share.cached);
}

struct Memory {
  uint64_t begin, bytes, handle;  // handle: of mapped memory, otherwise 0
  AllocationId id, mapping;
  bool segment = false;
};
struct Block {
  uint64_t begin, bytes;
  AllocationId id;
};

// Segments from cudaMalloc and by mappings, blocks in them and elsewhere, and memory of others; on one device.
struct Job {
  TraceBuilder trace;
  std::vector<Memory> memory;
  std::vector<Block> blocks;
  uint64_t peak = 0, others_at_peak = 0, reserved_at_peak = 0, unplaced_at_peak = 0;
  uint64_t outside = 0;

  static bool Overlap(const Block& block, const Memory& range) {
    return block.begin < range.begin + range.bytes && range.begin < block.begin + block.bytes;
  }
  static uint64_t Common(const Block& block, const Memory& range) {
    if (!Overlap(block, range)) return 0;
    return std::min(block.begin + block.bytes, range.begin + range.bytes) - std::max(block.begin, range.begin);
  }
  uint64_t Live() const {
    uint64_t sum = 0;
    for (const Block& block : blocks) sum += block.bytes;
    return sum;
  }
  uint64_t Unplaced() const {
    uint64_t sum = 0;
    for (const Block& block : blocks) {
      uint64_t placed = 0;
      for (const Memory& range : memory) placed += Common(block, range);
      sum += block.bytes - placed;
    }
    return sum;
  }
  uint64_t Bytes(bool of_segments) const {
    uint64_t sum = 0;
    for (const Memory& range : memory) sum += range.segment == of_segments ? range.bytes : 0;
    return sum;
  }
  uint64_t Releasable() const {
    uint64_t sum = 0;
    for (const Memory& range : memory) {
      const bool used =
          std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) { return Overlap(block, range); });
      sum += range.segment && !used ? range.bytes : 0;
    }
    return sum;
  }
  uint64_t LargestHole() const {
    // Mapped memory that touches is one, all else is not.
    std::vector<std::pair<uint64_t, uint64_t>> runs;
    std::vector<Memory> sorted = memory;
    std::sort(sorted.begin(), sorted.end(), [](const Memory& a, const Memory& b) { return a.begin < b.begin; });
    uint64_t last_handle = 0;
    for (const Memory& range : sorted) {
      if (!range.segment) {
        last_handle = 0;
        continue;
      }
      if (!runs.empty() && last_handle != 0 && range.handle != 0 && runs.back().second == range.begin) {
        runs.back().second += range.bytes;
      } else {
        runs.push_back({range.begin, range.begin + range.bytes});
      }
      last_handle = range.handle;
    }
    uint64_t largest = 0, run = 0;
    constexpr uint64_t kGrain = 512;
    for (const auto& [begin, end] : runs) {
      run = 0;
      for (uint64_t at = begin; at < end; at += kGrain) {
        const bool taken = std::any_of(blocks.begin(), blocks.end(), [at](const Block& block) {
          return block.begin <= at && at < block.begin + block.bytes;
        });
        run = taken ? 0 : run + kGrain;
        largest = std::max(largest, run);
      }
    }
    return largest;
  }
  void Note() {
    if (Live() <= peak) return;
    peak = Live();
    others_at_peak = Bytes(false);
    reserved_at_peak = Bytes(true) + Unplaced();
    unplaced_at_peak = Unplaced();
  }

  Job(uint64_t seed, int events, bool tell) {
    std::mt19937_64 random(seed);
    const auto below = [&random](uint64_t n) { return random() % n; };
    uint64_t now = 0, next_segment = 1 << 24, next_handle = 0x100000;
    const uint64_t expandable = uint64_t{1} << 40;
    uint64_t mapped = 0;
    for (int i = 0; i < events; ++i) {
      now += 2;
      // The allocator holds a lock, so its events have an order whatever thread makes them.
      const auto thread = static_cast<uint32_t>(below(3));
      const auto stack = static_cast<uint32_t>(1 + below(5));
      const uint64_t dice = below(100);
      if (dice < 10) {
        const uint64_t bytes = 64 * 512 * (1 + below(4));
        memory.push_back(
            {next_segment, bytes, 0, trace.Allocate(thread, now, DEVICE, 0, stack, next_segment, bytes), {}});
        // Some touch.
        next_segment += below(2) == 0 ? bytes : 4 * kMiB;
      } else if (dice < 16) {
        const uint64_t bytes = 32 * 512, handle = next_handle++;
        Memory range = {expandable + mapped * bytes, bytes, handle, {}, {}};
        range.id = trace.Allocate(thread, now, schema::PHYSICAL, 0, stack, handle, bytes);
        range.mapping = trace.Allocate(thread, now, schema::MAPPING, 0, stack, range.begin, bytes, handle);
        memory.push_back(range);
        mapped += 1 + (below(3) == 0);
      } else if (dice < 22 && !memory.empty()) {
        // A segment goes only when nothing is in it.
        const size_t victim = below(memory.size());
        const Memory range = memory[victim];
        if (std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) { return Overlap(block, range); }))
          continue;
        if (range.handle != 0) {
          trace.Free(thread, now, schema::MAPPING, 0, range.mapping);
          trace.Free(thread, now + 1, schema::PHYSICAL, 0, range.id);
        } else {
          trace.Free(thread, now, DEVICE, 0, range.id);
        }
        memory.erase(memory.begin() + static_cast<std::ptrdiff_t>(victim));
      } else if (dice < 65) {
        uint64_t begin, bytes = 512 * (1 + below(60));
        if (below(20) == 0 || memory.empty()) {
          begin = (uint64_t{1} << 44) + now * kMiB;  // nobody knows whose
        } else {
          // The memory of others is never cut up: every third allocation is theirs.
          const Memory& range = memory[below(memory.size())];
          if (range.handle == 0 && range.begin / 512 % 3 == 0) continue;
          begin = range.begin + 512 * below(range.bytes / 512);
          uint64_t end = range.begin + range.bytes;
          for (bool more = range.handle != 0; more;) {
            more = false;
            for (const Memory& next : memory) {
              if (next.begin == end && next.handle != 0) end += next.bytes, more = true;
            }
          }
          bytes = std::min(bytes, end - begin);
        }
        const Block block = {begin, bytes, {}};
        if (std::any_of(blocks.begin(), blocks.end(), [&](const Block& other) {
              return other.begin < begin + bytes && begin < other.begin + other.bytes;
            })) {
          continue;
        }
        blocks.push_back(block);
        blocks.back().id = trace.Allocate(thread, now, FRAMEWORK_BLOCK, 0, stack, begin, bytes);
        for (Memory& range : memory) range.segment |= Overlap(block, range);
      } else if (dice < 95) {
        if (blocks.empty()) continue;
        const size_t victim = below(blocks.size());
        trace.Free(thread, now, FRAMEWORK_BLOCK, 0, blocks[victim].id);
        blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(victim));
      } else {
        trace.Step(0, now, now);
      }
      Note();
      if (tell) {
        trace.Event(thread, now + 1, schema::FRAMEWORK_MEMORY, schema::KIND_NONE, 0, 0,
                    {Live(), Bytes(true) + Unplaced()});
      }
      if (below(100) == 0) trace.Seal(thread);
    }
  }
};

TEST(FrameworkLevel, AgreesWithPlainBookkeeping) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Job job(seed, 700, /*tell=*/true);
    if (job.blocks.empty()) continue;
    // It runs out of memory at the end.
    job.trace.Event(0, 1 << 20, schema::FAIL, FRAMEWORK_BLOCK, 0, 1, {2, 77 * kMiB});
    const std::unique_ptr<Trace> trace = Read(job.trace.Finish());
    EXPECT_EQ(trace->framework_devices(), 1u);
    FrameworkCheck check;
    FailureLog failures(*trace);
    LedgerOptions options;
    options.observers = {&check, &failures};
    Ledger ledger(*trace, Marks(), options);
    ledger.Replay();
    EXPECT_EQ(ledger.unknown_frees(), 0u);
    EXPECT_GT(check.checks(), 100u);
    EXPECT_EQ(check.mismatches(), 0u);
    const Scope& scope = Framework(ledger);
    EXPECT_EQ(scope.peak, job.peak);
    const Moment& peak = scope.peak_moment;
    ExpectAddsUp(peak);
    EXPECT_EQ(peak.usage.live, job.peak);
    EXPECT_EQ(peak.usage.reserved, job.reserved_at_peak);
    EXPECT_EQ(peak.framework.others, job.others_at_peak);
    EXPECT_EQ(peak.framework.unplaced, job.unplaced_at_peak);
    const Moment& end = scope.end_moment;
    ExpectAddsUp(end);
    EXPECT_EQ(end.usage.live, job.Live());
    EXPECT_EQ(end.usage.reserved, job.Bytes(true) + job.Unplaced());
    EXPECT_EQ(end.framework.releasable, job.Releasable());
    EXPECT_EQ(end.framework.others, job.Bytes(false));

    // What sites hold at the peak is what the device holds.
    uint64_t blocks = 0, segments = 0, others = 0;
    for (const Site& site : ledger.sites()) {
      if (site.key.kind == FRAMEWORK_BLOCK) blocks += site.bytes_at_peak;
      if (site.key.kind != DEVICE && site.key.kind != schema::PHYSICAL) continue;
      segments += site.segment_bytes_at_peak;
      others += site.bytes_at_peak - site.segment_bytes_at_peak;
    }
    EXPECT_EQ(blocks, job.peak);
    EXPECT_EQ(segments + job.unplaced_at_peak, job.reserved_at_peak);
    EXPECT_EQ(others, job.others_at_peak);

    ASSERT_EQ(failures.all().size(), 1u);
    const OutOfMemory& failed = failures.all()[0];
    ASSERT_TRUE(failed.framework);
    EXPECT_EQ(failed.framework->live, job.Live());
    EXPECT_EQ(failed.framework->reserved, job.Bytes(true) + job.Unplaced());
    EXPECT_EQ(failed.framework->largest_hole, job.LargestHole());
  }
}

TEST(FrameworkLevel, AMismatchIsSeen) {
  Job job(7, 300, true);
  job.trace.Event(0, 1 << 20, schema::FRAMEWORK_MEMORY, schema::KIND_NONE, 0, 0,
                  {job.Live() + 512, job.Bytes(true) + job.Unplaced() + 2 * kMiB});
  const std::unique_ptr<Trace> trace = Read(job.trace.Finish());
  FrameworkCheck check;
  LedgerOptions options;
  options.observers = {&check};
  Ledger ledger(*trace, Marks(), options);
  ledger.Replay();
  EXPECT_EQ(check.mismatches(), 1u);
  EXPECT_EQ(check.given_out(), 512);
  EXPECT_EQ(check.reserved(), static_cast<int64_t>(2 * kMiB));
}

TEST(FrameworkLevel, WithoutBlocksTheDriverIsTheFrameworksLevel) {
  TraceBuilder builder;
  builder.Allocate(0, 1, schema::STREAM_ORDERED, 0, 1, 2 * kMiB, 2 * kMiB);
  builder.Allocate(0, 2, DEVICE, 1, 1, 8 * kMiB, 2 * kMiB);
  builder.Allocate(0, 3, FRAMEWORK_BLOCK, 1, 2, 8 * kMiB, kMiB);
  const std::unique_ptr<Trace> trace = Read(builder.Finish());
  EXPECT_EQ(trace->framework_devices(), 2u);
  Ledger ledger(*trace, StepPlan());
  ledger.Replay();
  uint64_t live[2] = {};
  for (const Scope& scope : ledger.scopes()) {
    if (scope.is_leading()) live[scope.device.value()] += scope.live;
  }
  EXPECT_EQ(live[0], 2 * kMiB);
  EXPECT_EQ(live[1], kMiB);
}

// As vLLM's allocator puts memory to sleep: blocks keep their addresses while the memory there is another one.
TEST(FrameworkLevel, MemoryThatSleptHasItsBlocksAgain) {
  constexpr uint64_t kPlace = uint64_t{1} << 40;
  TraceBuilder trace;
  uint64_t now = 0;
  const auto map = [&](uint64_t handle) {
    const AllocationId memory = trace.Allocate(0, ++now, schema::PHYSICAL, 0, 0, handle, 20 * kMiB);
    return std::make_pair(memory, trace.Allocate(0, ++now, schema::MAPPING, 0, 0, kPlace, 20 * kMiB, handle));
  };
  auto [memory, mapping] = map(77);
  const AllocationId brief = trace.Allocate(0, ++now, FRAMEWORK_BLOCK, 0, 0, kPlace, 8 * kMiB);
  trace.Allocate(0, ++now, FRAMEWORK_BLOCK, 0, 0, kPlace + 8 * kMiB, 12 * kMiB);
  for (uint64_t cycle = 0; cycle < 3; ++cycle) {
    trace.Free(0, ++now, schema::MAPPING, 0, mapping);
    trace.Free(0, ++now, schema::PHYSICAL, 0, memory);
    if (cycle == 1) trace.Free(0, ++now, FRAMEWORK_BLOCK, 0, brief);
    std::tie(memory, mapping) = map(78 + cycle);
  }
  const std::unique_ptr<Trace> read = Read(trace.Finish());
  Ledger ledger(*read, StepPlan());
  ledger.Replay();
  const Moment& end = Framework(ledger).end_moment;
  ExpectAddsUp(end);
  EXPECT_EQ(end.device_used, 20 * kMiB);
  EXPECT_EQ(end.usage.live, 12 * kMiB);
  EXPECT_EQ(end.framework.cached, 8 * kMiB);
  EXPECT_EQ(end.framework.others, 0u);
  EXPECT_EQ(end.framework.unplaced, 0u);
}

TEST(FrameworkLevel, ARequestThatIsGrantedAfterAllIsNoFailure) {
  TraceBuilder builder;
  builder.Allocate(0, 1, DEVICE, 0, 1, 2 * kMiB, 2 * kMiB);
  builder.Allocate(0, 2, FRAMEWORK_BLOCK, 0, 2, 2 * kMiB, kMiB);
  // The allocator's first try fails, its second does not.
  builder.Event(0, 3, schema::FAIL, DEVICE, 0, 1, {2, 20 * kMiB});
  builder.Allocate(0, 4, DEVICE, 0, 1, 32 * kMiB, 20 * kMiB);
  builder.Allocate(0, 5, FRAMEWORK_BLOCK, 0, 2, 32 * kMiB, 20 * kMiB);
  // Here both fail, and it gives up.
  builder.Event(0, 6, schema::FAIL, DEVICE, 0, 1, {2, 40 * kMiB});
  builder.Event(0, 7, schema::FAIL, DEVICE, 0, 1, {2, 40 * kMiB});
  builder.Event(0, 8, schema::MEMORY_INFO, schema::KIND_NONE, 0, 0, {3 * kMiB, 100 * kMiB});
  builder.Event(0, 9, schema::FRAMEWORK_MEMORY, schema::KIND_NONE, 0, 0, {21 * kMiB, 22 * kMiB});
  builder.Event(0, 10, schema::FAIL, FRAMEWORK_BLOCK, 0, 3, {2, 39 * kMiB});
  // Somebody else's fails, and the process is gone.
  builder.Event(1, 11, schema::FAIL, DEVICE, 0, 4, {2, 50 * kMiB});
  const std::unique_ptr<Trace> trace = Read(builder.Kill());
  FailureLog failures(*trace);
  LedgerOptions options;
  options.observers = {&failures};
  Ledger ledger(*trace, StepPlan(), options);
  ledger.Replay();
  ASSERT_EQ(failures.all().size(), 2u);
  EXPECT_EQ(failures.count(), 2u);
  const OutOfMemory& framework = failures.all()[0];
  EXPECT_EQ(framework.requested, 39 * kMiB);
  EXPECT_TRUE(framework.framework->failed);
  EXPECT_EQ(framework.framework->live, 21 * kMiB);
  EXPECT_EQ(framework.framework->reserved, 22 * kMiB);
  EXPECT_EQ(framework.framework->largest_hole, kMiB);
  ASSERT_EQ(framework.holders.size(), 1u) << "segments hold nothing";
  EXPECT_EQ(framework.holders[0].second, 21 * kMiB);
  EXPECT_EQ(failures.all()[1].requested, 50 * kMiB);
  EXPECT_FALSE(failures.all()[1].framework->failed);
}

}  // namespace
}  // namespace vramtrack
