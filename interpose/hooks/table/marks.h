// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_HOOKS_TABLE_MARKS_H_
#define INTERPOSE_HOOKS_TABLE_MARKS_H_

#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

// Records a mark with its call stack, or notes it until recording begins: a mark is no reason to begin. `domain` and
// `message` may be null. `id`: of a range that starts or ends, otherwise 0. For hooks, outside of a Call.
void RecordMark(schema::MarkKind kind, const char* domain, const char* message, uint64_t id = 0);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_MARKS_H_
