// SPDX-License-Identifier: Apache-2.0
//
// Enables and disables kinds of CUPTI records. A set of kinds has a bit for each index in kRecordKinds.
#ifndef CUPTI_TRACER_ENABLE_RECORDS_H_
#define CUPTI_TRACER_ENABLE_RECORDS_H_

#include <stddef.h>
#include <stdint.h>

#include "cupti_tracer/cupti_library.h"

namespace vramtrack::cupti {

// The result of EnableRecords.
struct Enabled {
  int result = 0;                 // CUPTI's error for `refused`
  const char* refused = nullptr;  // name of the refused kind; null if no necessary kind was refused
  bool every_call = false;        // all API calls are recorded, because this release cannot select memory calls
};

// Enables the records; called during the driver's cuInit. If a kind is refused, disables those that were enabled
// before. Kinds that are not on by default may be missing in this release or on this device without being refused.
Enabled EnableRecords(const Library& library, uint32_t kinds);

// Enables the kinds that can only be enabled after the driver is initialized; called on the collector's thread. kNone
// means that `kinds` has none of them, kNotYet that the driver is not initialized. `*result` is CUPTI's error for
// kRefused.
enum class Late { kNone, kNotYet, kEnabled, kRefused };
Late EnableLateRecords(const Library& library, uint32_t kinds, int* result);

// Disables the records, except kinds that another tool has enabled.
void DisableRecords(const Library& library, uint32_t kinds);

// A name in VRAMTRACK_CUPTI_RECORDS, and the CUPTI kinds that it selects.
struct RecordKind {
  const char* name;
  uint32_t kinds[2];            // CUPTI kinds; 0: unused
  bool by_default;              // the cheapest records that complete the ledger
  bool memory_calls = false;    // API calls: only memory functions, if CUPTI can select them
  bool late = false;            // cannot be enabled before the driver is initialized
  const char* needs = nullptr;  // gives records only together with the kind of this name
};
extern const RecordKind kRecordKinds[];
extern const size_t kRecordKindCount;

// Parses a list of names, separated by commas, into `*kinds`; adds the kinds that a name needs. A null or empty text
// gives the defaults. Returns false for an unknown name, and leaves `*kinds` unchanged.
bool ParseRecordKinds(const char* text, uint32_t* kinds);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_ENABLE_RECORDS_H_
