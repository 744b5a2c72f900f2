// SPDX-License-Identifier: Apache-2.0
//
// Activity records come back as they went in, small, and stock protobuf reads them.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <string>

#include "proto/activity_decoder.h"
#include "proto/activity_encoder.h"
#include "proto/frame_scanner.h"
#include "proto/trace.pb.h"

namespace vramtrack {
namespace {

std::string FileOf(const std::string& frames) {
  std::string file(kHeaderBytes, '\0');
  WriteHeaderPage(reinterpret_cast<uint8_t*>(file.data()));
  return file + frames;
}

std::string Finish(ActivityEncoder* encoder, bool with_generation = false) {
  size_t bytes;
  uint8_t* frame = encoder->Finish(130000, {5000, 7000}, with_generation, &bytes);
  return std::string(reinterpret_cast<char*>(frame), bytes);
}

ActivityRecord RandomRecord(std::mt19937_64* random, ActivityEncoder* encoder) {
  ActivityRecord record;
  record.kind = 1 + static_cast<uint32_t>((*random)() % 12);  // also those of older versions
  record.operation = static_cast<uint32_t>((*random)() % 400);
  record.memory = static_cast<uint32_t>((*random)() % 8);
  record.device = static_cast<uint32_t>((*random)() % 3);
  record.stream = static_cast<uint32_t>((*random)());
  record.correlation = static_cast<uint32_t>((*random)());
  record.text = encoder->TextId(std::to_string((*random)() % 100).c_str());
  record.start_ns = (*random)();
  if (TakesTime(record.kind)) record.duration_ns = (*random)();
  if (HasAddress(record.kind)) record.address = (*random)();
  record.bytes = (*random)();
  record.pool = (*random)();
  return record;
}

void ExpectSame(const ActivityRecord& a, const ActivityRecord& b) {
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << a.kind << " " << b.kind;
}

TEST(Activities, ComeBackAsTheyWentIn) {
  auto encoder = std::make_unique<ActivityEncoder>();
  std::mt19937_64 random(3);
  std::vector<ActivityRecord> written;
  while (!encoder->full()) {
    written.push_back(RandomRecord(&random, encoder.get()));
    encoder->Add(written.back());
  }
  EXPECT_EQ(written.size(), ActivityEncoder::kMaxRecords);
  encoder->AddSpan(true, 17, "");
  encoder->AddSpan(false, 18, "another tool");
  const std::string file = FileOf(Finish(encoder.get()));
  EXPECT_TRUE(encoder->empty());

  TraceLayout layout;
  ASSERT_EQ(ScanTrace(file, &layout), "");
  EXPECT_TRUE(layout.damage.empty());
  ASSERT_EQ(layout.activities.size(), 1u);
  DecodedActivities read;
  ASSERT_TRUE(ReadActivities(layout.activities[0].payload, &read));
  EXPECT_EQ(read.cupti_version, 130000u);
  EXPECT_EQ(read.tie_cupti_ns, 5000u);
  EXPECT_EQ(read.tie_ticks, 7000u);
  ASSERT_EQ(read.records.size(), written.size());
  for (size_t i = 0; i < written.size(); ++i) ExpectSame(read.records[i], written[i]);
  ASSERT_EQ(read.spans.size(), 2u);
  EXPECT_TRUE(read.spans[0].begins);
  EXPECT_EQ(read.spans[1].why, "another tool");
  EXPECT_EQ(read.texts.size(), 100u);

  format::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(file));
  ASSERT_EQ(trace.activities_size(), 1);
  EXPECT_EQ(trace.activities(0).record_shape_size(), static_cast<int>(written.size()));
  EXPECT_EQ(trace.activities(0).record_time_size(), static_cast<int>(written.size()));
  EXPECT_EQ(trace.activities(0).spans(1).why(), "another tool");
}

TEST(Activities, TextsAreDefinedOnceUntilForgotten) {
  auto encoder = std::make_unique<ActivityEncoder>();
  ActivityRecord kernel;
  kernel.kind = schema::ACTIVITY_KERNEL;
  const uint32_t first = encoder->TextId("kernel");
  encoder->Add(kernel);
  const std::string one = Finish(encoder.get());
  EXPECT_EQ(encoder->TextId("kernel"), first);
  encoder->Add(kernel);
  const std::string two = Finish(encoder.get());
  encoder->ForgetTexts();
  EXPECT_NE(encoder->TextId("kernel"), first);
  EXPECT_EQ(encoder->TextId(nullptr), 0u);
  EXPECT_EQ(encoder->TextId(""), 0u);
  encoder->Add(kernel);
  const std::string three = Finish(encoder.get());
  TraceLayout layout;
  const std::string file = FileOf(one + two + three);
  ASSERT_EQ(ScanTrace(file, &layout), "");
  ASSERT_EQ(layout.activities.size(), 3u);
  const size_t texts[] = {1, 0, 1};
  for (size_t i = 0; i < 3; ++i) {
    DecodedActivities read;
    ASSERT_TRUE(ReadActivities(layout.activities[i].payload, &read));
    EXPECT_EQ(read.texts.size(), texts[i]);
  }
}

// 200 kernels with names as templates have them, on four streams, microseconds apart.
TEST(Activities, AKernelTakesAtMostTwelveBytes) {
  auto encoder = std::make_unique<ActivityEncoder>();
  std::mt19937_64 random(5);
  uint64_t now = 1795000000000000000, bytes = 0, records = 0;
  for (uint32_t i = 0; i < 100000; ++i) {
    ActivityRecord record;
    record.kind = schema::ACTIVITY_KERNEL;
    record.text = encoder->TextId((std::string(150, 'k') + std::to_string(random() % 200)).c_str());
    record.stream = static_cast<uint32_t>(7 + random() % 4);
    record.correlation = 3 * i;
    record.start_ns = now += random() % 20000;
    record.duration_ns = 1500 + random() % 50000;
    encoder->Add(record);
    ++records;
    if (encoder->full()) bytes += Finish(encoder.get()).size();
  }
  bytes += Finish(encoder.get()).size();
  const double each = static_cast<double>(bytes) / static_cast<double>(records);
  RecordProperty("bytes_per_kernel", std::to_string(each));
  std::printf("%.2f bytes a kernel\n", each);
  EXPECT_LE(each, 12);
}

TEST(Activities, DamageIsNoMoreThanWhatIsDamaged) {
  auto encoder = std::make_unique<ActivityEncoder>();
  std::mt19937_64 random(9);
  for (int i = 0; i < 50; ++i) encoder->Add(RandomRecord(&random, encoder.get()));
  const std::string frame = Finish(encoder.get());
  const std::string payload = frame.substr(kSealedPrefixBytes);
  DecodedActivities read;
  for (size_t cut = 0; cut < payload.size(); ++cut) ReadActivities(payload.substr(0, cut), &read);
  for (size_t i = 0; i < 20000; ++i) {
    std::string changed = payload;
    changed[random() % changed.size()] = static_cast<char>(random());
    ReadActivities(changed, &read);
    EXPECT_LE(read.records.size(), changed.size());
  }
  std::string file = FileOf(frame + frame);
  file[kHeaderBytes + kSealedPrefixBytes + 30] ^= 1;
  TraceLayout layout;
  ASSERT_EQ(ScanTrace(file, &layout), "");
  EXPECT_EQ(layout.activities.size(), 1u);
  EXPECT_EQ(layout.damage.size(), 1u);
}

}  // namespace
}  // namespace vramtrack
