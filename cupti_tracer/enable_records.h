// SPDX-License-Identifier: Apache-2.0
//
// Asks CUPTI for kinds of records, which are bits by index in kRecordKinds.
#ifndef CUPTI_TRACER_ENABLE_RECORDS_H_
#define CUPTI_TRACER_ENABLE_RECORDS_H_

#include <stddef.h>
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

// What can be asked for in VRAMTRACK_CUPTI_RECORDS, and the kinds of CUPTI behind it.
struct RecordKind {
  const char* name;
  uint32_t kinds[2];            // 0: no more
  bool by_default;              // the cheapest records that complete the ledger
  bool memory_calls = false;    // of API calls: the memory functions, where CUPTI can choose
  bool late = false;            // cannot be asked for before the driver is initialized
  const char* needs = nullptr;  // makes records only together with this one
};
extern const RecordKind kRecordKinds[];
extern const size_t kRecordKindCount;

// Sets bits by index in kRecordKinds. Null or empty: the defaults. False, with nothing set, for an unknown name.
bool ParseRecordKinds(const char* text, uint32_t* kinds);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_ENABLE_RECORDS_H_
