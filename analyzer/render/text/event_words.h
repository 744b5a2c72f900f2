// SPDX-License-Identifier: Apache-2.0
//
// What single events are called where they are shown or exported.
#ifndef ANALYZER_RENDER_TEXT_EVENT_WORDS_H_
#define ANALYZER_RENDER_TEXT_EVENT_WORDS_H_

#include <cstdint>
#include <string>

#include "analyzer/ingest/stream_event.h"
#include "analyzer/ingest/trace.h"

namespace vramtrack {

// Of schema::Operation: "allocate", "free", ...; of a newer writer's "operation 12".
std::string OperationName(uint32_t operation);

// What the operation was done to, as the report has it; of a mark what it stands for. Empty where that is not told.
std::string KindNameOf(uint32_t operation, uint32_t kind);

// What an event says beside its operation, kind, device, bytes, address and identity; often empty.
std::string EventDetails(const Trace& trace, const StreamEvent& event);

// Whether a stack was recorded with events of this operation.
bool HasStack(uint32_t operation);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_EVENT_WORDS_H_
