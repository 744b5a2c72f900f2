// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_HOOKS_TABLE_MARKS_H_
#define INTERPOSE_HOOKS_TABLE_MARKS_H_

#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

// Records a mark with its call stack. Before recording has begun, the mark is kept until it begins; a mark does not
// begin it. `domain` and `message` may be null. `id`: of a range that starts or ends, otherwise 0. To be called outside
// of a Call. Thread-safe.
void RecordMark(schema::MarkKind kind, const char* domain, const char* message, uint64_t id = 0);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_MARKS_H_
