// SPDX-License-Identifier: Apache-2.0
//
// What is said of when memory was last used must be certain: against a job made up step by step, of which it is known
// when its kernels ran.
#include "analyzer/cupti/device_use.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/cupti/testing/recorded_activities.h"

namespace vramtrack {
namespace {

constexpr uint64_t kStep = 1000000;  // ticks, which are nanoseconds

// A job whose steps run two kernels, a copy and a fill each and keep an object of stack 1; objects of stack 2 are given
// back in the step after theirs.
class Job {
 public:
  explicit Job(const char* records = "memory,pools,kernels,copies,fills") : recording_(records) {
    recording_.Span(true, 1, "");
  }

  // `busy`: whether anything runs in it.
  void Step(bool busy, const char* kernel = "attend", uint32_t device = 0) {
    const uint64_t begin = ++step_ * kStep;
    recording_.Hook(begin, schema::DEVICE, step_ << 24, 512, 1);
    if (busy) {
      recording_.Run(schema::ACTIVITY_KERNEL, begin + 100000, 200000, kernel, device);
      recording_.Run(schema::ACTIVITY_KERNEL, begin + 200000, 200000, "other", device);  // on another stream
    }
    const AllocationId next = recording_.Hook(begin + 500000, schema::DEVICE, (step_ << 24) + 4096, 1024, 2);
    if (has_before_) recording_.HookFree(begin + 550000, schema::DEVICE, before_);
    before_ = next;
    has_before_ = true;
    if (busy) {
      recording_.Run(schema::ACTIVITY_MEMCPY, begin + 600000, 50000, "", device);
      recording_.Run(schema::ACTIVITY_MEMSET, begin + 700000, 10000, "", device);
    }
    recording_.Step(begin + 900000, step_);
  }
  void HookManaged(uint64_t time) { recording_.Hook(time, schema::MANAGED, 0x70000000, 512, 3); }
  Recording& recording() { return recording_; }
  std::string Finish() { return recording_.Finish((step_ + 1) * kStep); }

 private:
  Recording recording_;
  uint64_t step_ = 0;
  AllocationId before_{};
  bool has_before_ = false;
};

struct Followed {
  explicit Followed(std::string file) : bytes(std::move(file)) {
    trace = *Trace::Read(bytes, "test");
    use = std::make_unique<DeviceUse>(
        *trace, std::vector<std::vector<SiteIndex>>{{SiteIndex(0)}, {SiteIndex(1)}, {SiteIndex(2)}});
    StepPlan plan;
    plan.mark_slot = ThreadSlot(0);
    LedgerOptions options;
    options.observers.push_back(use.get());
    ledger = std::make_unique<Ledger>(*trace, plan, options);
    ledger->Replay();
    use->Finish();
  }
  std::string bytes;
  std::unique_ptr<Trace> trace;
  std::unique_ptr<DeviceUse> use;
  std::unique_ptr<Ledger> ledger;
};

TEST(DeviceUse, NothingIsUsedBehindTheLastThatRan) {
  Job job;
  for (int i = 0; i < 10; ++i) job.Step(i < 6);
  const Followed followed(job.Finish());
  // What is kept may have been used until the fill of step 6 ended, which is half of the objects' case; the others were
  // made later and never used.
  const std::optional<DeviceUse::LastUse> kept = followed.use->LastUseOf(0);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->objects, 10u);
  EXPECT_EQ(kept->ticks, 10 * kStep) << "the latest is the last one's birth";
  EXPECT_EQ(kept->step, 9u);
  const uint64_t end = std::max(followed.trace->end_ticks(), followed.ledger->last_ticks());
  EXPECT_DOUBLE_EQ(kept->idle_ticks, static_cast<double>(end - (6 * kStep + 710000)));
}

TEST(DeviceUse, SaysNothingOfADeviceThatIsBusyToTheEnd) {
  Job job;
  for (int i = 0; i < 10; ++i) job.Step(true);
  const Followed followed(job.Finish());
  EXPECT_FALSE(followed.use->LastUseOf(0));
  EXPECT_FALSE(followed.use->LastUseOf(1));
}

TEST(DeviceUse, AnotherDeviceMayHaveUsedItToo) {
  Job job;
  for (int i = 0; i < 10; ++i) job.Step(true, "attend", i < 6 ? 0 : 1);
  EXPECT_FALSE(Followed(job.Finish()).use->LastUseOf(0));
}

TEST(DeviceUse, SaysNothingWithoutTheRecordsOfAllThatUsesMemory) {
  for (const char* records :
       {"memory,pools", "memory,kernels", "kernels,copies", "fills,kernels", "kernels,copies,fills,graphs"}) {
    Job job(records);
    for (int i = 0; i < 10; ++i) job.Step(i < 6);
    EXPECT_FALSE(Followed(job.Finish()).use->LastUseOf(0)) << records;
  }
}

TEST(DeviceUse, SaysNothingWhereRecordsAreMissing) {
  Job job;
  for (int i = 0; i < 10; ++i) job.Step(i < 6);
  job.recording().Span(false, 8 * kStep, "another tool asked CUPTI for its records");
  EXPECT_FALSE(Followed(job.Finish()).use->LastUseOf(0));
}

TEST(DeviceUse, ManagedMemoryIsTheProcessorsToo) {
  Job job;
  job.HookManaged(kStep / 2);
  for (int i = 0; i < 10; ++i) job.Step(i < 6);
  const Followed followed(job.Finish());
  ASSERT_EQ(followed.ledger->sites()[SiteIndex(0)].key.kind, static_cast<uint32_t>(schema::MANAGED));
  EXPECT_FALSE(followed.use->LastUseOf(0));
  EXPECT_TRUE(followed.use->LastUseOf(1));
}

TEST(DeviceUse, NamesTheKernelThatComesFirstEachTime) {
  Job job;
  for (int i = 0; i < 20; ++i) job.Step(true, i == 7 ? "rarely" : "attend");
  const Followed followed(job.Finish());
  const std::optional<DeviceUse::FirstKernel> first = followed.use->FirstKernelOf(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "attend");
  EXPECT_DOUBLE_EQ(first->share, 0.95);
  // Behind the second allocation of a step nothing runs before the next step's kernel, and that is behind its own too.
  ASSERT_TRUE(followed.use->FirstKernelOf(1));
}

TEST(DeviceUse, NamesTheKernelHoweverManyCameBefore) {
  Job job;
  for (int i = 0; i < 20; ++i) job.Step(true, ("setup" + std::to_string(i)).c_str());
  for (int i = 0; i < 300; ++i) job.Step(true, "attend");
  const Followed followed(job.Finish());
  const std::optional<DeviceUse::FirstKernel> first = followed.use->FirstKernelOf(0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->name, "attend");
  EXPECT_DOUBLE_EQ(first->share, 300.0 / 320);
}

TEST(DeviceUse, NamesNoKernelThatComesNowAndThen) {
  Job job;
  for (int i = 0; i < 20; ++i) job.Step(true, i % 5 == 0 ? "rarely" : "attend");
  EXPECT_FALSE(Followed(job.Finish()).use->FirstKernelOf(0));
  Job idle;
  for (int i = 0; i < 20; ++i) idle.Step(i % 2 == 0);
  EXPECT_FALSE(Followed(idle.Finish()).use->FirstKernelOf(0)) << "none ran before the next allocation";
}

}  // namespace
}  // namespace vramtrack
