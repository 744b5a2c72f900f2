// SPDX-License-Identifier: Apache-2.0
//
// Random traces with known content, for tests.
#ifndef PROTO_TESTING_RANDOM_TRACE_H_
#define PROTO_TESTING_RANDOM_TRACE_H_

#include <cstdint>
#include <map>
#include <vector>

#include "proto/testing/trace_builder.h"

namespace vramtrack {

// One event as given to the builder.
struct RecordedEvent {
  uint32_t operation = 0, kind = 0, device = 0, ref = 0;
  uint64_t bytes = 0, stream = 0, time = 0, ordinal = 0, address = 0;
  std::vector<uint64_t> values;

  bool operator==(const RecordedEvent& other) const {
    return operation == other.operation && kind == other.kind && device == other.device && ref == other.ref &&
           bytes == other.bytes && stream == other.stream && time == other.time && ordinal == other.ordinal &&
           address == other.address && values == other.values;
  }
};

struct RandomTrace {
  TraceBuilder trace;
  std::map<uint32_t, std::vector<RecordedEvent>> events;  // by thread
  uint64_t stacks = 0;
  uint32_t codes = 0;
  uint32_t walks = 0;

  // Has every operation, with hostile values, but nothing that a process cannot do.
  RandomTrace(uint64_t seed, int events, uint32_t threads);

 private:
  template <typename Below>
  void DefinePython(uint32_t thread, const Below& below);
  template <typename Below>
  void WalkHolders(uint64_t time, const Below& below);
};

}  // namespace vramtrack

#endif  // PROTO_TESTING_RANDOM_TRACE_H_
