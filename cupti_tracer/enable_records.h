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
};

// Enables the records; called during the driver's cuInit. If a kind is refused, disables those that were enabled
// before. Kinds that are not on by default may be missing in this release or on this device without being refused.
Enabled EnableRecords(const Library& library, uint32_t kinds);

// Disables the records, except kinds that another tool has enabled.
void DisableRecords(const Library& library, uint32_t kinds);

// A name in VRAMTRACK_CUPTI_RECORDS, and the CUPTI kinds that it selects.
struct RecordKind {
  const char* name;
  uint32_t kinds[2];  // CUPTI kinds; 0: unused
  bool by_default;    // the cheapest records that complete the ledger
};
extern const RecordKind kRecordKinds[];
extern const size_t kRecordKindCount;

// Parses a list of names, separated by commas, into `*kinds`. A null or empty text gives the defaults. Returns false
// for an unknown name, and leaves `*kinds` unchanged.
bool ParseRecordKinds(const char* text, uint32_t* kinds);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_ENABLE_RECORDS_H_
