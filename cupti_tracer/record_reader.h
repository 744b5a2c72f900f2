// SPDX-License-Identifier: Apache-2.0
#ifndef CUPTI_TRACER_RECORD_READER_H_
#define CUPTI_TRACER_RECORD_READER_H_

#include "cupti_tracer/cupti_abi.h"
#include "proto/activity_encoder.h"

namespace vramtrack::cupti {

// What a record of CUPTI says; its texts go to `encoder`, which is not full. `has_source`: memory records have one.
// False for a kind that is not kept.
bool ReadRecord(const Activity& activity, bool has_source, ActivityEncoder* encoder, ActivityRecord* record);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_RECORD_READER_H_
