// SPDX-License-Identifier: Apache-2.0
#include "interpose/hooks/table/marks.h"

#include "interpose/hooks/table/call.h"
#include "interpose/session/early_marks.h"
#include "interpose/session/mark_names.h"

namespace vramtrack {

void RecordMark(schema::MarkKind kind, const char* domain, const char* message, uint64_t id) {
  if (Session::Running() == nullptr) return NoteEarlyMark(kind, domain, message, id);
  Call call(kNoFamily);
  if (!call.active()) return;
  MarkName name;
  if (message != nullptr) {
    name = NameOf(message, domain, call.session(), call.lane());
  } else if (kind != schema::MARK_RANGE_END) {
    name.id = DomainName(domain, call.session(), call.lane());
  }
  call.Mark(kind, name.id, id != 0 ? id : name.number);
}

}  // namespace vramtrack
