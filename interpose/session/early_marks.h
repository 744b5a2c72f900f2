// SPDX-License-Identifier: Apache-2.0
//
// Marks that a process sets before its first CUDA call. They are kept in memory until recording begins, and are never
// written if it does not begin. Without them, the trace would contain only the end of a range that a program opens
// before its first CUDA call.
#ifndef INTERPOSE_SESSION_EARLY_MARKS_H_
#define INTERPOSE_SESSION_EARLY_MARKS_H_

#include <cstdint>

#include "interpose/recorder/event_writer.h"
#include "interpose/session/session.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Each of the first 64 threads that set marks keeps its first 512 and its last 512 marks, with up to 128 names. Such a
// thread uses 64 KiB; other threads use nothing. Early marks have no stacks. If marks in the middle were dropped, the
// number of open ranges after them is still correct. A forked child has no early marks. A thread calls these functions
// for its own marks; they take no locks and do not change errno.

// Notes a mark. `message` is null for none; `id` is that of a range that starts or ends, otherwise 0.
void NoteEarlyMark(schema::MarkKind kind, const char* domain, const char* message, uint64_t id);
void NoteEarlyStep(uint64_t number, double value);

// Records the early marks of the calling thread in its writer, which must not hold events yet, and forgets them.
void RecordEarlyMarks(Session* session, EventWriter* writer);

struct ClockReading {
  uint64_t ticks, monotonic_ns, realtime_ns;
};
// Returns the time of the first mark that the process keeps, or `now` if there is none.
ClockReading EarliestMark(const ClockReading& now);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_EARLY_MARKS_H_
