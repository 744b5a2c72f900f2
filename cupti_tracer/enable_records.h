// SPDX-License-Identifier: Apache-2.0
//
// Asks CUPTI for kinds of records, which are bits by index in kRecordKinds.
#ifndef CUPTI_TRACER_ENABLE_RECORDS_H_
#define CUPTI_TRACER_ENABLE_RECORDS_H_

#include <stdint.h>

#include "cupti_tracer/cupti_library.h"

namespace vramtrack::cupti {

struct Enabled {
  int result = 0;                 // why `refused` is
  const char* refused = nullptr;  // name of a kind; null: all are there, or are not missed
  bool every_call = false;        // of API calls not the memory functions alone, because this release cannot choose
};

// In the driver's cuInit. What was enabled when a kind is refused is disabled again.
Enabled EnableRecords(const Library& library, uint32_t kinds);

// What can only be asked for once the driver is initialized, from the tracer's thread; `result` says why it is refused.
enum class Late { kNone, kNotYet, kEnabled, kRefused };
Late EnableLateRecords(const Library& library, uint32_t kinds, int* result);

void DisableRecords(const Library& library, uint32_t kinds);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_ENABLE_RECORDS_H_
