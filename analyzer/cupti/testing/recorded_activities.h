// SPDX-License-Identifier: Apache-2.0
//
// Makes traces with activity records in memory, for tests.
#ifndef ANALYZER_CUPTI_TESTING_RECORDED_ACTIVITIES_H_
#define ANALYZER_CUPTI_TESTING_RECORDED_ACTIVITIES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "proto/activity_encoder.h"
#include "proto/testing/trace_builder.h"

namespace vramtrack {

// Builds a trace with hooked events and CUPTI records of one process with one thread. Times are ticks of one
// nanosecond; the times of events must not decrease.
class Recording {
 public:
  // `records`: the value of VRAMTRACK_CUPTI_RECORDS; null for the default.
  explicit Recording(const char* records = nullptr) {
    if (records != nullptr) builder_.DefineProcess(1, 1, {}, -1, {{"VRAMTRACK_CUPTI_RECORDS", records}});
  }

  AllocationId Hook(uint64_t time, schema::Kind kind, uint64_t address, uint64_t bytes, uint32_t stack = 1) {
    return builder_.Allocate(1, time, kind, 0, stack, address, bytes);
  }
  void HookFree(uint64_t time, schema::Kind kind, AllocationId id) { builder_.Free(1, time, kind, 0, id); }
  void Step(uint64_t time, uint64_t number) { builder_.Step(1, time, number); }

  void Tell(uint64_t time, uint32_t operation, uint64_t address, uint64_t bytes, const char* library,
            uint32_t memory = kActivityDevice) {
    ActivityRecord record;
    record.kind = schema::ACTIVITY_MEMORY;
    record.operation = operation;
    record.memory = memory;
    record.address = address;
    record.bytes = bytes;
    Add(record, time, library);
  }
  // Adds the execution of a kernel, a copy or a fill.
  void Run(schema::ActivityKind kind, uint64_t time, uint64_t duration_ns, const char* name, uint32_t device = 0) {
    ActivityRecord record;
    record.kind = kind;
    record.device = device;
    record.duration_ns = duration_ns;
    Add(record, time, name);
  }
  void Span(bool begins, uint64_t time, const char* why) { encoder_->AddSpan(begins, time, why); }

  std::string Finish(uint64_t time) {
    CloseFrame(time);
    for (uint32_t stack = 1; stack <= 3; ++stack) builder_.DefineStack(1, stack, {0x1000u * stack});
    return builder_.Finish() + frames_;
  }

 private:
  static constexpr uint64_t kClockOffset = 1795000000000000000;  // CUPTI's clock at tick 0, in nanoseconds

  void Add(ActivityRecord record, uint64_t time, const char* text) {
    if (encoder_->full()) CloseFrame(time);
    record.text = encoder_->TextId(text);
    record.start_ns = kClockOffset + time;
    encoder_->Add(record);
  }
  void CloseFrame(uint64_t time) {
    size_t bytes;
    const uint8_t* frame = encoder_->Finish(130500, {kClockOffset + time, time}, false, &bytes);
    frames_.append(reinterpret_cast<const char*>(frame), bytes);
  }

  TraceBuilder builder_;
  std::unique_ptr<ActivityEncoder> encoder_ = std::make_unique<ActivityEncoder>();
  std::string frames_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CUPTI_TESTING_RECORDED_ACTIVITIES_H_
