// SPDX-License-Identifier: Apache-2.0
//
// The names of single events where they are shown or exported.
#ifndef ANALYZER_RENDER_TEXT_EVENT_WORDS_H_
#define ANALYZER_RENDER_TEXT_EVENT_WORDS_H_

#include <cstdint>
#include <string>

#include "analyzer/ingest/stream_event.h"
#include "analyzer/ingest/trace.h"

namespace vramtrack {

// Returns the name of a schema::Operation: "allocate", "free", ...; for an operation of a newer writer "operation 12".
std::string OperationName(uint32_t operation);

// Returns the kind of object that an operation applies to, as in the report; for a mark, what it marks. Empty if the
// event does not say.
std::string KindNameOf(uint32_t operation, uint32_t kind);

// Returns the details of an event in addition to its operation, kind, device, bytes, address and identity; often empty.
std::string EventDetails(const Trace& trace, const StreamEvent& event);

// Returns whether events of this operation are recorded with a stack.
bool HasStack(uint32_t operation);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_EVENT_WORDS_H_
