// SPDX-License-Identifier: Apache-2.0
//
// Reads an Activities frame.
#ifndef PROTO_ACTIVITY_DECODER_H_
#define PROTO_ACTIVITY_DECODER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/activity_record.h"

namespace vramtrack {

struct DecodedSpan {
  bool begins = false;
  uint64_t ticks = 0;
  std::string why;
};

struct DecodedActivities {
  uint32_t generation = 0, cupti_version = 0;
  uint64_t tie_cupti_ns = 0, tie_ticks = 0;
  uint32_t record_count = 0;
  std::vector<std::pair<uint32_t, std::string_view>> texts;  // views into the payload
  std::vector<DecodedSpan> spans;
  std::vector<ActivityRecord> records;  // up to the first malformed one
};

// Reads everything but the records. False if malformed.
bool ReadActivitiesHeader(std::string_view payload, DecodedActivities* header);
// Reads everything. False if records are missing or malformed; those before them are filled in.
bool ReadActivities(std::string_view payload, DecodedActivities* activities);

}  // namespace vramtrack

#endif  // PROTO_ACTIVITY_DECODER_H_
