// SPDX-License-Identifier: Apache-2.0
//
// Notes in the trace which calls may not have been recorded.
#ifndef INTERPOSE_HOOKS_TABLE_UNSEEN_H_
#define INTERPOSE_HOOKS_TABLE_UNSEEN_H_

#include "interpose/recorder/event_writer.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Notes a library or function once. It is written to the trace when a thread begins to record, or now if this thread
// already does. Thread-safe, lock-free. Of longer names the last 255 bytes are kept; names after the 32nd are dropped.
void NoteUnseen(const char* name, schema::UnseenReason reason);

// Like NoteUnseen, for code inside a hook that is already recording in `writer`.
void DefineUnseenNow(const char* name, schema::UnseenReason reason, EventWriter* writer);

// Writes to `writer` the notes that are not in the trace yet.
void DefineUnseen(EventWriter* writer);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_UNSEEN_H_
