// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/unseen.h"

#include <atomic>
#include <cstring>

#include "interpose/hooks/table/call.h"

namespace vramtrack {
namespace {

struct Note {
  std::atomic<uint32_t> state;  // 0 free, 1 being written, 2 to be defined, 3 defined
  schema::UnseenReason reason;
  char name[256];
};
constexpr size_t kMaxNotes = 32;
Note notes[kMaxNotes];

}  // namespace

namespace {

void Keep(const char* name, schema::UnseenReason reason) {
  // The end of a path says more than its beginning.
  const size_t length = strlen(name);
  if (length >= sizeof Note::name) name += length - sizeof Note::name + 1;
  for (Note& note : notes) {
    uint32_t state = note.state.load(std::memory_order_acquire);
    if (state >= 2) {
      if (strcmp(note.name, name) == 0) return;
      continue;
    }
    if (state == 1 || !note.state.compare_exchange_strong(state, 1, std::memory_order_acq_rel)) continue;
    note.reason = reason;
    std::memcpy(note.name, name, strlen(name) + 1);
    note.state.store(2, std::memory_order_release);
    break;
  }
}

}  // namespace

void NoteUnseen(const char* name, schema::UnseenReason reason) {
  Keep(name, reason);
  if (Session::Running() == nullptr) return;
  Call call(kNoFamily);
  if (call.active()) DefineUnseen(call.writer());
}

void DefineUnseenNow(const char* name, schema::UnseenReason reason, EventWriter* writer) {
  Keep(name, reason);
  DefineUnseen(writer);
}

void DefineUnseen(EventWriter* writer) {
  for (Note& note : notes) {
    uint32_t state = 2;
    if (!note.state.compare_exchange_strong(state, 3, std::memory_order_acq_rel)) continue;
    writer->Define<sizeof note.name + 64>(schema::definitions_field::unseen, [&note](MessageWriter* out) {
      out->String(schema::unseen_field::library, note.name);
      out->Varint(schema::unseen_field::reason, note.reason);
    });
  }
}

}  // namespace vramtrack
