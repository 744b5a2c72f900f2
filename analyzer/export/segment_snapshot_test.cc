// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's viewer goes back from the snapshot through the events to any earlier moment. These tests check that each
// block is in a segment at those moments, too, and that each event removes only what exists.
#include "analyzer/export/segment_snapshot.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "analyzer/export/exported_process.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

using Action = DeviceSnapshot::Action;

constexpr uint64_t kMiB = 1 << 20;

// At the end of the trace.
std::map<DeviceIndex, DeviceSnapshot> SnapshotsOf(const std::string& bytes, size_t max_events = 100000) {
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(bytes, "test.vtrace");
  EXPECT_TRUE(trace.ok()) << trace.status();
  ExportOptions options;
  options.at = ExportOptions::At::kEnd;
  options.max_events = max_events;
  absl::StatusOr<std::unique_ptr<ExportedProcess>> process = ExportedProcess::Make(**trace, options);
  EXPECT_TRUE(process.ok()) << process.status();
  return TakeSnapshots(**process);
}

using Ranges = std::map<uint64_t, uint64_t>;  // bytes by address; those that touch may be one

bool Contains(const Ranges& ranges, uint64_t address) {
  auto after = ranges.upper_bound(address);
  if (after == ranges.begin()) return false;
  --after;
  return address - after->first < after->second;
}

void Unmap(uint64_t address, uint64_t bytes, Ranges* segments) {
  ASSERT_TRUE(Contains(*segments, address)) << address;
  const auto in = std::prev(segments->upper_bound(address));
  const uint64_t begin = in->first, end = in->first + in->second;
  ASSERT_LE(address + bytes, end);
  segments->erase(in);
  if (begin < address) (*segments)[begin] = address - begin;
  if (address + bytes < end) (*segments)[address + bytes] = end - address - bytes;
}

// How it was before the event.
void Undo(const DeviceSnapshot::Event& event, Ranges* segments, Ranges* blocks) {
  switch (event.action) {
    case Action::kAlloc:
      EXPECT_EQ(blocks->erase(event.address), 1);
      return;
    case Action::kFree:
      (*blocks)[event.address] = event.bytes;
      return;
    case Action::kSegmentAlloc:
      EXPECT_EQ(segments->erase(event.address), 1);
      return;
    case Action::kSegmentMap:
      Unmap(event.address, event.bytes, segments);
      return;
    case Action::kSegmentFree:
    case Action::kSegmentUnmap:
      (*segments)[event.address] = event.bytes;
      return;
    case Action::kOtherAlloc:
    case Action::kLoneAlloc:
      EXPECT_EQ(blocks->erase(event.address), 1);
      EXPECT_EQ(segments->erase(event.address), 1);
      return;
    case Action::kOtherFree:
    case Action::kLoneFree:
      (*blocks)[event.address] = (*segments)[event.address] = event.bytes;
      return;
    case Action::kOom:
      return;
  }
}

void ExpectAWayBack(const DeviceSnapshot& snapshot) {
  Ranges segments, blocks;
  for (const DeviceSnapshot::Segment& segment : snapshot.segments) {
    segments[segment.address] = segment.bytes;
    for (const DeviceSnapshot::Block& block : segment.blocks) blocks[block.address] = block.bytes;
  }
  for (auto event = snapshot.events.rbegin(); event != snapshot.events.rend(); ++event) {
    Undo(*event, &segments, &blocks);
    for (const auto& [address, bytes] : blocks) ASSERT_TRUE(Contains(segments, address)) << address;
    if (testing::Test::HasFailure()) return;
  }
  if (snapshot.events_left_out == 0) {
    EXPECT_TRUE(blocks.empty());
    EXPECT_TRUE(segments.empty());
  }
}

// A process with what a framework's allocator has of the driver, whole segments and pieces of expandable ones, with
// what others have, and with blocks in memory that the trace does not know.
class RandomProcess : JobBuilder {
 public:
  explicit RandomProcess(uint64_t seed) : random_(seed) {}

  std::string Run(int events) {
    for (uint64_t range = 0; range < 2; ++range) {
      Allocate(schema::ADDRESS_RANGE, kExpandable + range * kPieces * kPiece, kPieces * kPiece);
    }
    for (int i = 0; i < events; ++i) {
      const uint64_t slot = Below(12);
      switch (Below(4)) {
        case 0:
          Toggle(schema::DEVICE, kSegments + slot * kPiece, kPiece);
          break;
        case 1:
          Toggle(schema::MAPPING, kExpandable + slot * kPiece, kPiece);
          break;
        case 2:
          Toggle(schema::STREAM_ORDERED, kOthers + slot * kPiece, kPiece);
          break;
        default:
          Block((Below(2) == 0 ? kSegments : kExpandable) + slot * kPiece + Below(4) * kPiece / 4);
          if (Below(4) == 0) Toggle(schema::FRAMEWORK_BLOCK, kUnknown + slot * kPiece, kPiece);
      }
    }
    return Finish();
  }

 private:
  static constexpr uint64_t kPiece = 2 * kMiB, kPieces = 6;  // of a range of addresses
  static constexpr uint64_t kSegments = 0x10000000, kExpandable = 0x20000000, kOthers = 0x30000000,
                            kUnknown = 0x40000000;

  uint64_t Below(uint64_t count) { return random_() % count; }

  void Allocate(schema::Kind kind, uint64_t address, uint64_t bytes) {
    live_[{kind, address}] = AllocateAt(0, address, bytes, kind);
  }

  // What is there goes, what is not there comes; memory with blocks in it stays.
  void Toggle(schema::Kind kind, uint64_t address, uint64_t bytes) {
    const auto known = live_.find({kind, address});
    if (known == live_.end()) return Allocate(kind, address, bytes);
    for (uint64_t in = 0; in < 4 && kind != schema::FRAMEWORK_BLOCK; ++in) {
      if (live_.count({schema::FRAMEWORK_BLOCK, address + in * bytes / 4}) > 0) return;
    }
    Free(known->second);
    live_.erase(known);
  }

  void Block(uint64_t address) {
    const uint64_t memory = address / kPiece * kPiece;
    if (live_.count({schema::DEVICE, memory}) + live_.count({schema::MAPPING, memory}) > 0) {
      Toggle(schema::FRAMEWORK_BLOCK, address, kPiece / 4);
    }
  }

  std::mt19937_64 random_;
  std::map<std::pair<uint32_t, uint64_t>, JobObject> live_;  // by kind and address
};

TEST(SegmentSnapshot, FromItsEventsLeadsAWayBack) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const std::string bytes = RandomProcess(seed).Run(600);
    for (const size_t most : {100000, 50}) {
      for (const auto& [device, snapshot] : SnapshotsOf(bytes, most)) ExpectAWayBack(snapshot);
    }
  }
}

TEST(SegmentSnapshot, BlocksOfAnUnknownSegmentAreSegmentsThemselves) {
  JobBuilder job;
  job.AllocateAt(0, 0x10000000, 2 * kMiB);
  job.BlockAt(0, 0x10000000, kMiB);
  const JobObject freed = job.BlockAt(0, 0x90000000, kMiB);
  job.BlockAt(0, 0x80000000, 3 * kMiB);
  job.Free(freed);
  const std::map<DeviceIndex, DeviceSnapshot> snapshots = SnapshotsOf(job.Finish());
  ASSERT_EQ(snapshots.size(), 1);
  const DeviceSnapshot& snapshot = snapshots.at(DeviceIndex(0));
  ExpectAWayBack(snapshot);
  ASSERT_EQ(snapshot.segments.size(), 2);
  EXPECT_EQ(snapshot.segments[1].address, 0x80000000);
  EXPECT_EQ(snapshot.segments[1].bytes, 3 * kMiB);
  EXPECT_EQ(snapshot.segments[1].blocks.size(), 1);
  EXPECT_TRUE(snapshot.segments[1].of_framework);
}

TEST(SegmentSnapshot, TriesOfAFrameworkBeforeItGivesUpAreOneFailure) {
  JobBuilder job;
  job.BlockAt(1, job.Allocate(1, 2 * kMiB).address, kMiB);
  job.Fail(2, 64 * kMiB);
  job.Fail(2, 64 * kMiB);
  job.Fail(2, 63 * kMiB, schema::FRAMEWORK_BLOCK);
  const std::map<DeviceIndex, DeviceSnapshot> snapshots = SnapshotsOf(job.Finish());
  ASSERT_EQ(snapshots.size(), 1);
  const std::deque<DeviceSnapshot::Event>& events = snapshots.at(DeviceIndex(0)).events;
  ASSERT_EQ(events.size(), 3);
  EXPECT_EQ(events[2].action, Action::kOom);
  EXPECT_EQ(events[2].bytes, 63 * kMiB);
  EXPECT_NE(events[2].stack, kEmptyStack);
}

}  // namespace
}  // namespace vramtrack
