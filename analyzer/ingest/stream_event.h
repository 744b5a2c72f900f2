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
  ThreadSlot slot;            // the thread that recorded it; the first thread for FOLD_ALLOCATE, FOLD_FREE
  ThreadSlot owner;           // ALLOCATE: equal to slot; FREE: the thread that allocated
  const DecodedShape* shape;  // valid until the next call
  uint32_t* note;             // a word for the stream's reader, one for each shape of a block; 0 at first
  uint64_t time;              // ticks; does not decrease within a thread
  uint64_t ordinal;           // ALLOCATE, FREE: with `owner`, the allocation's identity; for folds see PastEvents
  uint64_t address;           // ALLOCATE
  uint64_t value[3];          // the other values, see schema::Operation
  bool past;                  // generated from the sums of a trace of bounded size, see PastEvents

  DeviceIndex device() const { return DeviceIndex(std::min(shape->device, kMaxDevice)); }
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_STREAM_EVENT_H_
