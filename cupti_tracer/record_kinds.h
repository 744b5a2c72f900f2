// SPDX-License-Identifier: Apache-2.0
#ifndef CUPTI_TRACER_RECORD_KINDS_H_
#define CUPTI_TRACER_RECORD_KINDS_H_

#include <stddef.h>
#include <stdint.h>

namespace vramtrack::cupti {

// What can be asked for in VRAMTRACK_CUPTI_RECORDS, and the kinds of CUPTI behind it.
struct RecordKind {
  const char* name;
  uint32_t kinds[2];            // 0: no more
  bool by_default;              // the cheapest that close the ledger
  bool memory_calls = false;    // of API calls: the memory functions, where CUPTI can choose
  bool late = false;            // cannot be asked for before the driver is initialized
  const char* needs = nullptr;  // makes no records but beside those
};
extern const RecordKind kRecordKinds[];
extern const size_t kRecordKindCount;

// A set of bits, by index in kRecordKinds. Null, or empty: those by default. False, with nothing set, for a name that
// is not known.
bool ParseRecordKinds(const char* text, uint32_t* kinds);

}  // namespace vramtrack::cupti

#endif  // CUPTI_TRACER_RECORD_KINDS_H_
