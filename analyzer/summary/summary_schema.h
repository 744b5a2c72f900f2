// SPDX-License-Identifier: Apache-2.0
//
// Field numbers of a summary's outer messages; those of what is in a record are in the Fields functions.
#ifndef ANALYZER_SUMMARY_SUMMARY_SCHEMA_H_
#define ANALYZER_SUMMARY_SUMMARY_SCHEMA_H_

#include <cstdint>

namespace vramtrack {

// The first field says so, that a summary can be told from other messages.
constexpr char kSummaryFormat[] = "vramtrack summary";
// What a program reads that knows this one: fields may be added, a new number means that old readers would be wrong.
constexpr uint64_t kSummaryVersion = 1;

enum SummaryField : uint32_t {
  kSummaryFormatField = 1,
  kSummaryVersionField = 2,
  kSummaryProcesses = 3,  // how many there are
  kSummaryFrame = 4,
  kSummaryStack = 5,
  kSummaryRecord = 6,
  kSummaryLack = 7,       // a line on what could not be read
  kSummaryLacksMore = 8,  // there were more of them
};
enum StackField : uint32_t { kStackKey = 1, kStackFrames = 2 };

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SUMMARY_SCHEMA_H_
