// SPDX-License-Identifier: Apache-2.0
//
// What the trace says of calls that may have gone by unrecorded.
#ifndef INTERPOSE_HOOKS_TABLE_UNSEEN_H_
#define INTERPOSE_HOOKS_TABLE_UNSEEN_H_

#include "interpose/recorder/lane.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Notes a library or function once; it comes into the trace when a thread begins to record, or now if this one does.
// Thread-safe, no lock; of longer names the last 255 bytes are kept, and what comes
// after the 32nd is dropped.
void NoteUnseen(const char* name, schema::UnseenReason reason);

// The same where a hook of this library is recording already.
void DefineUnseenNow(const char* name, schema::UnseenReason reason, Lane* lane);

// Defines in `lane` what was noted since the last call.
void DefineUnseen(Lane* lane);

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_UNSEEN_H_
