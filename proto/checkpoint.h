// SPDX-License-Identifier: Apache-2.0
//
// Reads Checkpoint messages of traces of bounded size.
#ifndef PROTO_CHECKPOINT_H_
#define PROTO_CHECKPOINT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
  struct Steps {
    uint32_t thread = 0;
    uint64_t count = 0, first_time = 0, last_time = 0, first_number = 0, last_number = 0, last_value = 0;
  };
  struct Memory {
    uint32_t device = 0;
    uint64_t time = 0, free = 0, total = 0;
  };
  struct FrameworkMemory {
    uint32_t device = 0;
    uint64_t time = 0, given_out = 0, reserved = 0;
  };
  struct Marks {
    uint32_t thread = 0, kind = 0, stack = 0, name = 0;
    uint64_t count = 0, first_time = 0, last_time = 0, first_number = 0, last_number = 0;
  };
  struct MarkGaps {
    struct Gaps {
      uint32_t size = 0;  // below kGapSizes
      uint64_t count = 0, ticks = 0;
    };
    uint32_t thread = 0, kind = 0, stack = 0, name = 0;
    uint64_t shortest = 0, longest = 0;
    std::vector<Gaps> gaps = {};
  };
  struct Failure {
    uint32_t thread = 0, kind = 0, device = 0, stack = 0;
    uint64_t error = 0, bytes = 0, time = 0, count = 0;
  };
  struct EarlyFree {
    uint32_t thread = 0, last_of = 0;
    uint64_t ordinal = 0, time = 0;
  };
  struct Setting {
    uint32_t operation = 0, thread = 0, kind = 0, device = 0, stack = 0;
    uint64_t first = 0, second = 0, time = 0;
  };
  struct Reset {
    uint32_t device = 0;
    uint64_t time = 0;
  };

  std::string_view definitions;  // an encoded Definitions message
  uint64_t events = 0, start_time = 0, last_time = 0, unknown_frees = 0;
  uint32_t bin_shift = 0;
  std::vector<Thread> threads;
  std::vector<Site> sites;
  std::vector<Shape> shapes;
  std::vector<Live> live;
  std::vector<Fold> folds;
  std::vector<Steps> steps;
  std::vector<Memory> memory;
  std::vector<Failure> failures;       // with counts, without time and bytes
  std::vector<Failure> kept_failures;  // without counts
  std::vector<EarlyFree> early_frees;
  std::vector<Reset> resets;
  std::vector<Setting> settings;
  std::vector<Marks> marks;
  std::vector<FrameworkMemory> framework_memory;
  std::vector<MarkGaps> mark_gaps;
};

// Returns the generation of a part, which may be truncated; 0 if it has none.
uint32_t GenerationOfPart(std::string_view beginning);

// Joins the parts of the checkpoint of `generation`. False, with empty `*bytes`, if one is missing.
bool JoinCheckpoint(const std::vector<FrameRef>& parts, uint32_t generation, std::string* bytes);

// `bytes` must outlive the checkpoint's definitions. False if malformed.
bool ReadCheckpoint(std::string_view bytes, Checkpoint* checkpoint);

}  // namespace vramtrack

#endif  // PROTO_CHECKPOINT_H_
