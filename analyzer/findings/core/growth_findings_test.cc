// SPDX-License-Identifier: Apache-2.0
//
// Jobs on an emulated device that run until it is full. What is known then is compared with what the trace of their
// first half foretells.
#include "analyzer/findings/core/growth_findings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kPage = 2 * kMiB;
constexpr uint64_t kStepTicks = 20000000;  // nanoseconds

// Gives out whole pages until there are no more; what it gives out goes into a trace.
class Device : public JobBuilder {
 public:
  explicit Device(uint64_t total, bool tells_size = true) : total_(total) {
    JobBuilder::Device(tells_size ? total : 0);
  }

  JobObject Allocate(uint32_t stack, uint64_t bytes, schema::Kind kind = schema::DEVICE) {
    used_ += PagesOf(bytes);
    if (used_ > total_) full_ = true;
    return JobBuilder::Allocate(stack, bytes, kind);
  }
  void Free(const JobObject& object) {
    used_ -= PagesOf(object.bytes);
    JobBuilder::Free(object);
  }
  bool full() const { return full_; }

  std::vector<ReportDevice> Analysed() {
    ProcessFindings findings = FindInJob(this);
    EXPECT_NEAR(findings.steps.seconds.value_or(0), kStepTicks * 1e-9, .01 * kStepTicks * 1e-9);
    return std::move(findings.devices);
  }

 private:
  static uint64_t PagesOf(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

  const uint64_t total_;
  uint64_t used_ = 0;
  bool full_ = false;
};

using Step = std::function<void(Device*, uint64_t step)>;

// A job is made anew for each run, with the same chance.
using MakeJob = std::function<Step()>;

ReportGrowths After(const Step& job, uint64_t steps, uint64_t total, bool tells_size = true) {
  Device device(total, tells_size);
  device.Allocate(1, 400 * kMiB);
  for (uint64_t step = 0; step < steps; ++step) {
    job(&device, step);
    device.Pass(kStepTicks);
    device.EndStep();
  }
  const std::vector<ReportDevice> devices = device.Analysed();
  EXPECT_EQ(devices.size(), 1u);
  if (!devices[0].growth_of) return {};
  EXPECT_EQ(devices[0].growth->bytes_per_step, devices[0].growth_of->live.bytes_per_step);
  return *devices[0].growth_of;
}

uint64_t StepsUntilFull(const Step& job, uint64_t total) {
  Device device(total);
  device.Allocate(1, 400 * kMiB);
  for (uint64_t step = 0;; ++step) {
    job(&device, step);
    if (device.full()) return step;
  }
}

void ExpectForetold(const char* what, const MakeJob& make, uint64_t total, double most_error) {
  const uint64_t all = StepsUntilFull(make(), total), half = all / 2;
  const ReportGrowths growth = After(make(), half, total);
  const auto truth = static_cast<double>(all - half);
  for (const ReportGrowth* one : {&growth.live, &growth.reserved, &growth.device_used}) {
    ASSERT_TRUE(one->steps_to_oom.has_value()) << what << ": " << one->refused;
    EXPECT_NEAR(*one->steps_to_oom, truth, most_error * truth) << what;
    EXPECT_LE(one->steps_to_oom_low, truth) << what;
    EXPECT_GE(one->steps_to_oom_high, truth) << what;
    EXPECT_NEAR(*one->seconds_to_oom, *one->steps_to_oom * kStepTicks * 1e-9, .01 * *one->seconds_to_oom) << what;
  }
}

// A step with activations of some size, which leaves `left` behind.
void Train(Device* device, uint64_t activations, uint64_t left) {
  const JobObject temporary = device->Allocate(2, activations);
  if (left > 0) device->Allocate(3, left);
  device->Free(temporary);
}

TEST(TimeToOom, IsThatOfTheWholeRunWithinThreePercent) {
  ExpectForetold(
      "the same step over and over",
      [] { return [](Device* device, uint64_t) { Train(device, 96 * kMiB, 4 * kMiB); }; }, 2048 * kMiB, .03);
  ExpectForetold(
      "a leak in every third step",
      [] { return [](Device* device, uint64_t step) { Train(device, 96 * kMiB, step % 3 == 0 ? 6 * kMiB : 0); }; },
      2048 * kMiB, .03);
  ExpectForetold(
      "batches of varying length",
      [] {
        return [random = std::mt19937_64(5)](Device* device, uint64_t) mutable {
          Train(device, (32 + random() % 64) * kMiB, 4 * kMiB);
        };
      },
      4096 * kMiB, .03);
  ExpectForetold(
      "an evaluation that needs more",
      [] {
        return [](Device* device, uint64_t step) { Train(device, step % 20 == 19 ? 600 * kMiB : 96 * kMiB, 4 * kMiB); };
      },
      4096 * kMiB, .03);
  ExpectForetold(
      "a leak that began later",
      [] { return [](Device* device, uint64_t step) { Train(device, 96 * kMiB, step < 80 ? 0 : 4 * kMiB); }; },
      4096 * kMiB, .03);
}

// Chance has no memory, so that no guess can be as good as above; what is asked for is that the interval says so.
TEST(TimeToOom, CoversLeaksByChance) {
  constexpr int kRuns = 30;
  int covered = 0, unsure = 0;
  double error = 0;
  for (uint64_t seed = 0; seed < kRuns; ++seed) {
    const auto make = [seed] {
      return [random = std::mt19937_64(seed)](Device* device, uint64_t) mutable {
        Train(device, 96 * kMiB, random() % 3 == 0 ? 4 * kMiB : 0);
      };
    };
    const uint64_t all = StepsUntilFull(make(), 1536 * kMiB), half = all / 2;
    const ReportGrowth growth = After(make(), half, 1536 * kMiB).live;
    if (!growth.steps_to_oom) {
      ++unsure;  // by chance it looks like a cache that fills
      continue;
    }
    const auto truth = static_cast<double>(all - half);
    covered += growth.steps_to_oom_low <= truth && truth <= growth.steps_to_oom_high;
    error += std::fabs(*growth.steps_to_oom - truth) / truth;
  }
  EXPECT_LE(unsure, .1 * kRuns);
  EXPECT_GE(covered, .9 * (kRuns - unsure));
  EXPECT_LT(error / (kRuns - unsure), .15);
}

void ExpectRefused(const ReportGrowth& growth, const std::string& why) {
  EXPECT_FALSE(growth.steps_to_oom.has_value()) << why;
  EXPECT_FALSE(growth.seconds_to_oom.has_value()) << why;
  EXPECT_NE(growth.refused.find(why), std::string::npos) << growth.refused << " instead of " << why;
}

TEST(TimeToOom, IsRefusedForPhases) {
  const ReportGrowths growth = After(
      [kept = std::vector<JobObject>()](Device* device, uint64_t step) mutable {
        Train(device, 64 * kMiB, 0);
        // Gathered over a phase of 50 steps and let go with a pause of 10.
        if (step % 60 < 50) kept.push_back(device->Allocate(4, 4 * kMiB));
        if (step % 60 != 50) return;
        for (const JobObject& one : kept) device->Free(one);
        kept.clear();
      },
      225, 4096 * kMiB);
  EXPECT_FALSE(growth.live.steps_to_oom.has_value());
  EXPECT_FALSE(growth.device_used.steps_to_oom.has_value());
}

TEST(TimeToOom, IsRefusedForACacheThatFills) {
  const ReportGrowths growth = After(
      [](Device* device, uint64_t step) {
        Train(device, 64 * kMiB, 0);
        // The square root of the steps.
        if (std::floor(std::sqrt(static_cast<double>(step + 1))) > std::floor(std::sqrt(static_cast<double>(step)))) {
          device->Allocate(4, 8 * kMiB);
        }
      },
      2000, 4096 * kMiB);
  EXPECT_GT(growth.live.bytes_per_step, 0);
  ExpectRefused(growth.live, "sublinear");
  ExpectRefused(growth.reserved, "sublinear");
  ExpectRefused(growth.device_used, "sublinear");
}

TEST(TimeToOom, IsRefusedWhereItAccelerates) {
  const ReportGrowths growth =
      After([](Device* device, uint64_t step) { Train(device, 64 * kMiB, (1 + step / 10) * kMiB); }, 120, 8192 * kMiB);
  ExpectRefused(growth.live, "accelerating_leak");
}

TEST(TimeToOom, IsRefusedForManagedMemory) {
  const ReportGrowths growth = After(
      [](Device* device, uint64_t) {
        Train(device, 64 * kMiB, 0);
        device->Allocate(4, 4 * kMiB, schema::MANAGED);
      },
      225, 4096 * kMiB);
  ExpectRefused(growth.live, "managed memory");
  ExpectRefused(growth.device_used, "managed memory");
}

TEST(TimeToOom, IsRefusedWithoutTheDevicesSize) {
  const ReportGrowths growth =
      After([](Device* device, uint64_t) { Train(device, 96 * kMiB, 4 * kMiB); }, 60, 4096 * kMiB, false);
  EXPECT_EQ(growth.live.bytes_per_step, 4.0 * kMiB);
  ExpectRefused(growth.live, "size of the device is unknown");
}

TEST(TimeToOom, NeedsSteps) {
  EXPECT_EQ(
      After([](Device* device, uint64_t) { Train(device, 96 * kMiB, 4 * kMiB); }, 12, 4096 * kMiB).live.bytes_per_step,
      0);
  // It grows clearly, but its sites cannot be judged yet.
  const ReportGrowths growth =
      After([](Device* device, uint64_t) { Train(device, 96 * kMiB, 4 * kMiB); }, 18, 4096 * kMiB);
  EXPECT_EQ(growth.live.bytes_per_step, 4.0 * kMiB);
  ExpectRefused(growth.live, "insufficient_evidence");
}

TEST(TimeToOom, OfASteadyJobIsNotAskedFor) {
  const ReportGrowths growth = After([](Device* device, uint64_t) { Train(device, 96 * kMiB, 0); }, 60, 4096 * kMiB);
  EXPECT_EQ(growth.live.bytes_per_step, 0);
  EXPECT_EQ(growth.live.ci_high, 0);
  EXPECT_FALSE(growth.live.steps_to_oom.has_value());
  EXPECT_EQ(growth.live.refused, "");
}

// What steps keep in it goes again, only later.
TEST(TimeToOom, IsNotPredictedForAWindowThatFills) {
  for (const uint64_t most : {60, 90}) {
    Device device(4096 * kMiB);
    std::vector<JobObject> window;
    for (uint64_t step = 0; step < 100; ++step) {
      Train(&device, 64 * kMiB, 0);
      window.push_back(device.Allocate(5, 2 * kMiB));
      if (window.size() > most) {
        device.Free(window.front());
        window.erase(window.begin());
      }
      device.Pass(kStepTicks);
      device.EndStep();
    }
    const std::vector<ReportDevice> devices = device.Analysed();
    EXPECT_GT(devices[0].growth_of->live.ci_low, 0);
    EXPECT_FALSE(devices[0].growth_of->live.steps_to_oom.has_value()) << most;
    EXPECT_NE(devices[0].growth_of->live.refused, "") << most;
  }
}

// Segments are added while the framework gives out no more than before.
TEST(TimeToOom, IsRefusedForStairsOfSegments) {
  JobBuilder job;
  job.Device(4096 * kMiB);
  const JobObject first = job.Allocate(1, 20 * kMiB);
  for (uint64_t step = 0; step < 120; ++step) {
    const uint64_t base = (step > 0 && step % 10 == 0 ? job.Allocate(1, 20 * kMiB) : first).address;
    job.Free(job.BlockAt(2, base, 16 * kMiB));
    job.Pass(kStepTicks);
    job.EndStep();
  }
  const std::vector<ReportDevice> devices = FindInJob(&job).devices;
  ASSERT_TRUE(devices[0].growth_of.has_value());
  EXPECT_EQ(devices[0].growth_of->live.bytes_per_step, 0);
  EXPECT_NEAR(devices[0].growth_of->reserved.bytes_per_step, 2.0 * kMiB, .1 * kMiB);
  ExpectRefused(devices[0].growth_of->reserved, "times while live bytes do not grow");
  ExpectRefused(devices[0].growth_of->device_used, "times while live bytes do not grow");
}

// Chats whose keys and values are replaced by larger ones at each turn. What the judged steps allocated is nearly all
// gone: each chat holds what its last turn made.
ProcessFindings AfterChats(bool kept) {
  constexpr uint64_t kChats = 12, kTurns = 60;
  Device device(uint64_t{80} << 30);
  device.Allocate(1, 400 * kMiB);
  std::mt19937 random(1);
  std::vector<std::vector<JobObject>> chats(kChats);
  std::vector<uint64_t> turns(kChats), ends(kChats);
  for (uint64_t& end : ends) end = 2 + random() % 6;
  for (uint64_t turn = 0; turn < kTurns; ++turn) {
    const uint64_t chat = random() % kChats;
    const uint64_t bytes = ++turns[chat] * 3 * kMiB;
    for (const JobObject& object : chats[chat]) device.Free(object);
    chats[chat] = {device.Allocate(2, bytes)};
    if (turns[chat] == ends[chat]) {
      if (!kept) {
        for (const JobObject& object : chats[chat]) device.Free(object);
      }
      chats[chat].clear();
      turns[chat] = 0;
    }
    for (int token = 0; token < 5; ++token) {
      device.Free(device.Allocate(3, kMiB));
      device.Pass(kStepTicks);
      device.EndStep();
    }
  }
  return FindInJob(&device);
}

TEST(Growth, OfChatsThatAreNeverEndedIsFound) {
  const ProcessFindings kept = AfterChats(/*kept=*/true), ended = AfterChats(/*kept=*/false);
  bool found = !kept.reasons.empty();
  for (const ReportSite& site : kept.sites) found |= IsLeak(site);
  EXPECT_TRUE(found);
  for (const ReportSite& site : ended.sites) EXPECT_FALSE(IsLeak(site));
}

// To the byte, whatever was allocated and freed.
TEST(Growth, IsTheSumOfItsLines) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 20; ++trial) {
    Device device(uint64_t{80} << 30);
    std::vector<JobObject> live;
    const uint64_t steps = 30 + random() % 40;
    for (uint64_t step = 0; step < steps; ++step) {
      for (uint32_t i = random() % 12; i > 0; --i) {
        live.push_back(device.Allocate(1 + random() % 7, 1 + random() % kMiB));
      }
      while (!live.empty() && random() % 8 != 0) {
        const size_t which = random() % live.size();
        device.Free(live[which]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      }
      device.Pass(kStepTicks);
      device.EndStep();
    }
    const std::vector<ReportDevice> devices = device.Analysed();
    ASSERT_TRUE(devices[0].growth.has_value());
    ASSERT_TRUE(devices[0].growth->ledger.has_value());
    const ReportGrowthLedger& ledger = *devices[0].growth->ledger;
    EXPECT_EQ(static_cast<int64_t>(ledger.to) - static_cast<int64_t>(ledger.from), ledger.grown);
    int64_t sum = 0;
    for (const ReportGrowthLine& line : ledger.lines) sum += line.grown;
    EXPECT_EQ(sum, ledger.grown);
    EXPECT_EQ(ledger.other_grown, 0);
  }
}

}  // namespace
}  // namespace vramtrack
