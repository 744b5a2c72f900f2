// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_STREAM_EVENT_H_
#define ANALYZER_INGEST_STREAM_EVENT_H_

#include <algorithm>
#include <cstdint>

#include "analyzer/base/indices.h"
#include "proto/block_decoder.h"

namespace vramtrack {

struct StreamEvent {
  uint32_t operation;         // schema::Operation; a FREE whose allocation is not in the trace is a FREE_UNKNOWN
  ThreadSlot slot;            // the thread that recorded it; the first one for FOLD_ALLOCATE, FOLD_FREE
  ThreadSlot owner;           // ALLOCATE: slot; FREE: that of the thread that had allocated
  const DecodedShape* shape;  // of this event; valid until the next call
  uint32_t* note;             // one word for each shape of a block, 0 at first: for whoever reads the stream
  uint64_t time;              // ticks; does not decrease within a thread
  uint64_t ordinal;           // ALLOCATE, FREE: with `owner`, the allocation's identity; of folds see PastEvents
  uint64_t address;           // ALLOCATE
  uint64_t value[3];          // what is left, see schema::Operation
  bool past;                  // comes from the sums of a trace of bounded size, see PastEvents

  DeviceIndex device() const { return DeviceIndex(std::min(shape->device, kMaxDevice)); }
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_STREAM_EVENT_H_
