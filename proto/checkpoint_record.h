// SPDX-License-Identifier: Apache-2.0
//
// What a Checkpoint keeps of events other than those that it sums up: one type for all of its messages, and the table
// by which they are written and read. proto/trace.proto explains the fields.
#ifndef PROTO_CHECKPOINT_RECORD_H_
#define PROTO_CHECKPOINT_RECORD_H_

#include <cstddef>
#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

// An event, or several of one kind. Times are in ticks.
struct CheckpointRecord {
  uint64_t operation = 0, thread = 0, kind = 0, device = 0, stack = 0, name = 0;
  uint64_t count = 0;                        // only where several events are one record
  uint64_t first_time = 0, first = 0;        // their first one: its time and its number
  uint64_t time = 0, value = 0, second = 0;  // the last one, or the only one: its time and its values
  uint32_t field = 0;                        // the field of Checkpoint
};

struct RecordLayout {
  static constexpr size_t kMostFields = 9;

  uint32_t field;                                    // of Checkpoint
  uint32_t operation;                                // of its events, unless the message says it
  uint64_t CheckpointRecord::*members[kMostFields];  // field i + 1 of the message is members[i]; null after the last
  uint32_t fixed64 = 0;                              // the field that is not a varint; 0: none
};

namespace record_layouts {
namespace f = schema::checkpoint_field;
using R = CheckpointRecord;

constexpr RecordLayout kAll[] = {
    {f::steps,
     schema::STEP,
     {&R::thread, &R::count, &R::first_time, &R::time, &R::first, &R::value, &R::second},
     schema::foldedSteps_field::last_value},
    {f::marks,
     schema::MARK,
     {&R::thread, &R::kind, &R::stack, &R::name, &R::count, &R::first_time, &R::time, &R::first, &R::value}},
    {f::memory, schema::MEMORY_INFO, {&R::device, &R::time, &R::value, &R::second}},
    {f::framework_memory, schema::FRAMEWORK_MEMORY, {&R::device, &R::time, &R::value, &R::second}},
    {f::failures, schema::FAIL, {&R::kind, &R::device, &R::stack, &R::value, &R::count}},
    {f::kept_failures, schema::FAIL, {&R::thread, &R::kind, &R::device, &R::stack, &R::value, &R::second, &R::time}},
    {f::settings,
     schema::LIMIT,
     {&R::operation, &R::thread, &R::kind, &R::device, &R::stack, &R::value, &R::second, &R::time}},
    {f::resets, schema::DEVICE_RESET, {&R::device, &R::time}},
    {f::early_frees, schema::FREE, {&R::thread, &R::value, &R::time, &R::second}},
};

}  // namespace record_layouts

// Returns the layout of a field of Checkpoint; null if it has another type.
constexpr const RecordLayout* RecordLayoutOf(uint32_t field) {
  for (const RecordLayout& layout : record_layouts::kAll) {
    if (layout.field == field) return &layout;
  }
  return nullptr;
}

}  // namespace vramtrack

#endif  // PROTO_CHECKPOINT_RECORD_H_
