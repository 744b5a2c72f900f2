// SPDX-License-Identifier: Apache-2.0
//
// Reads Checkpoint messages of traces of bounded size.
#ifndef PROTO_CHECKPOINT_H_
#define PROTO_CHECKPOINT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/checkpoint_record.h"
#include "proto/frame_scanner.h"

namespace vramtrack {

// proto/trace.proto explains the fields. Row indices are checked; everything else is as it is in the file.
struct Checkpoint {
  struct Thread {
    uint32_t index;
    uint64_t events, allocations;
  };
  struct Site {
    uint32_t kind, device, stack;
  };
  struct Shape {
    uint32_t site;
    uint64_t bytes, stream;
  };
  struct Live {
    uint32_t thread, shape;
    uint64_t ordinal, time, address;
  };
  struct Fold {
    uint32_t site, birth, death;  // bins
    uint64_t count, bytes, age;   // age in ticks
  };

  std::string_view definitions;  // an encoded Definitions message
  uint64_t events = 0, start_time = 0, last_time = 0, unknown_frees = 0;
  uint32_t bin_shift = 0;
  std::vector<Thread> threads;
  std::vector<Site> sites;
  std::vector<Shape> shapes;
  std::vector<Live> live;
  std::vector<Fold> folds;
  std::vector<CheckpointRecord> records;  // all of the file, in its order
};

// Returns the generation of a part, which may be truncated; 0 if it has none.
uint32_t GenerationOfPart(std::string_view beginning);

// Joins the parts of the checkpoint of `generation`. False, with empty `*bytes`, if one is missing.
bool JoinCheckpoint(const std::vector<FrameRef>& parts, uint32_t generation, std::string* bytes);

// `bytes` must outlive the checkpoint's definitions. False if malformed.
bool ReadCheckpoint(std::string_view bytes, Checkpoint* checkpoint);

}  // namespace vramtrack

#endif  // PROTO_CHECKPOINT_H_
