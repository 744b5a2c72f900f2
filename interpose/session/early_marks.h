// SPDX-License-Identifier: Apache-2.0
//
// Marks that a process sets before its first CUDA call. They are kept in memory until recording begins, and are never
// written where it does not. A range that a program opens before it touches CUDA would otherwise look as if only its
// end had been there.
#ifndef INTERPOSE_SESSION_EARLY_MARKS_H_
#define INTERPOSE_SESSION_EARLY_MARKS_H_

#include <cstdint>

#include "interpose/recorder/lane.h"
#include "interpose/session/session.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Of each of the first 64 threads that set marks, the first 512 and the last 512 are kept, with up to 128 names; 64 KiB
// for such a thread, and nothing for others. They have no stacks. Where some in the middle are missing, as many ranges
// are open after them as were. In a forked child there are none. For the threads' own use: no locks, and nothing here
// changes errno.

// `message`: null for none. `id`: of a range that starts or ends, otherwise 0.
void NoteEarlyMark(schema::MarkKind kind, const char* domain, const char* message, uint64_t id);
void NoteEarlyStep(uint64_t number, double value);

// Records those of the calling thread in its lane, which holds no event yet, and forgets them.
void RecordEarlyMarks(Session* session, Lane* lane);

struct ClockReading {
  uint64_t ticks, monotonic_ns, realtime_ns;
};
// When the process set its first mark that is kept; `now` where there is none.
ClockReading EarliestMark(const ClockReading& now);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_EARLY_MARKS_H_
