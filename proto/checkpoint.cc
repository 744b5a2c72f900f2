// SPDX-License-Identifier: Apache-2.0
#include "proto/checkpoint.h"

#include <algorithm>

#include "proto/gap_sizes.h"
#include "proto/read_message.h"
#include "proto/schema_constants.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

using protozero::pbf_reader;
namespace f = schema::checkpoint_field;

constexpr uint32_t kMaxBin = 255;

Checkpoint::Steps ReadSteps(pbf_reader in) {
  namespace g = schema::foldedSteps_field;
  Checkpoint::Steps m;
  ReadMessage(in, Field(g::thread, &m.thread), Field(g::count, &m.count), Field(g::first_time, &m.first_time),
              Field(g::last_time, &m.last_time), Field(g::first_number, &m.first_number),
              Field(g::last_number, &m.last_number), FixedField(g::last_value, &m.last_value));
  return m;
}

Checkpoint::Memory ReadMemory(pbf_reader in) {
  namespace g = schema::foldedMemory_field;
  Checkpoint::Memory m;
  ReadMessage(in, Field(g::device, &m.device), Field(g::time, &m.time), Field(g::free, &m.free),
              Field(g::total, &m.total));
  return m;
}

Checkpoint::FrameworkMemory ReadFrameworkMemory(pbf_reader in) {
  namespace g = schema::foldedFrameworkMemory_field;
  Checkpoint::FrameworkMemory m;
  ReadMessage(in, Field(g::device, &m.device), Field(g::time, &m.time), Field(g::given_out, &m.given_out),
              Field(g::reserved, &m.reserved));
  return m;
}

Checkpoint::Marks ReadMarks(pbf_reader in) {
  namespace g = schema::foldedMarks_field;
  Checkpoint::Marks m;
  ReadMessage(in, Field(g::thread, &m.thread), Field(g::kind, &m.kind), Field(g::stack, &m.stack),
              Field(g::name, &m.name), Field(g::count, &m.count), Field(g::first_time, &m.first_time),
              Field(g::last_time, &m.last_time), Field(g::first_number, &m.first_number),
              Field(g::last_number, &m.last_number));
  return m;
}

Checkpoint::MarkGaps ReadMarkGaps(pbf_reader in) {
  namespace g = schema::markGaps_field;
  Checkpoint::MarkGaps m;
  PackedColumn sizes, counts, ticks;
  ReadMessage(in, Field(g::thread, &m.thread), Field(g::kind, &m.kind), Field(g::stack, &m.stack),
              Field(g::name, &m.name), Field(g::shortest, &m.shortest), Field(g::longest, &m.longest),
              Field(g::gap_size, &sizes), Field(g::gap_count, &counts), Field(g::gap_ticks, &ticks));
  while (!sizes.done()) {
    const Checkpoint::MarkGaps::Gaps one = {sizes.Next32(), counts.Next(), ticks.Next()};
    if (one.size < kGapSizes) m.gaps.push_back(one);
  }
  return m;
}

Checkpoint::Failure ReadFailures(pbf_reader in) {
  namespace g = schema::foldedFailures_field;
  Checkpoint::Failure m;
  ReadMessage(in, Field(g::kind, &m.kind), Field(g::device, &m.device), Field(g::stack, &m.stack),
              Field(g::error, &m.error), Field(g::count, &m.count));
  return m;
}

Checkpoint::Failure ReadKeptFailure(pbf_reader in) {
  namespace g = schema::keptFailure_field;
  Checkpoint::Failure m;
  ReadMessage(in, Field(g::thread, &m.thread), Field(g::kind, &m.kind), Field(g::device, &m.device),
              Field(g::stack, &m.stack), Field(g::error, &m.error), Field(g::bytes, &m.bytes), Field(g::time, &m.time));
  return m;
}

Checkpoint::EarlyFree ReadEarlyFree(pbf_reader in) {
  namespace g = schema::earlyFree_field;
  Checkpoint::EarlyFree m;
  ReadMessage(in, Field(g::thread, &m.thread), Field(g::ordinal, &m.ordinal), Field(g::time, &m.time),
              Field(g::last_of, &m.last_of));
  return m;
}

Checkpoint::Setting ReadSetting(pbf_reader in) {
  namespace g = schema::keptSetting_field;
  Checkpoint::Setting m;
  ReadMessage(in, Field(g::operation, &m.operation), Field(g::thread, &m.thread), Field(g::kind, &m.kind),
              Field(g::device, &m.device), Field(g::stack, &m.stack), Field(g::first, &m.first),
              Field(g::second, &m.second), Field(g::time, &m.time));
  return m;
}

Checkpoint::Reset ReadReset(pbf_reader in) {
  namespace g = schema::keptReset_field;
  Checkpoint::Reset m;
  ReadMessage(in, Field(g::device, &m.device), Field(g::time, &m.time));
  return m;
}

class CheckpointReader {
 public:
  CheckpointReader(std::string_view bytes, Checkpoint* to) : in_(bytes.data(), bytes.size()), to_(*to) {}

  bool Read() {
    while (in_.next()) {
      if (!ReadField() && !OpenColumn()) in_.skip();
    }
    if (to_.bin_shift >= 64 || time_shift_ >= 64 || address_shift_ >= 64) return false;
    while (!column(f::thread).done()) {
      to_.threads.push_back(
          {column(f::thread).Next32(), column(f::thread_events).Next(), column(f::thread_allocations).Next()});
    }
    while (!column(f::site_kind).done()) {
      to_.sites.push_back(
          {column(f::site_kind).Next32(), column(f::site_device).Next32(), column(f::site_stack).Next32()});
    }
    return ReadShapes() && ReadLive() && ReadFolds();
  }

 private:
  static constexpr uint32_t kColumns = f::fold_age + 1;
  PackedColumn& column(uint32_t field) { return columns_[field]; }

  bool ReadField() {
    return ReadAny(
        in_, Field(f::definitions, &to_.definitions), Field(f::events, &to_.events),
        Field(f::start_time, &to_.start_time), Field(f::last_time, &to_.last_time), Field(f::bin_shift, &to_.bin_shift),
        Field(f::unknown_frees, &to_.unknown_frees), Field(f::time_shift, &time_shift_),
        Field(f::address_shift, &address_shift_), RowField(f::steps, &to_.steps, ReadSteps),
        RowField(f::memory, &to_.memory, ReadMemory), RowField(f::marks, &to_.marks, ReadMarks),
        RowField(f::framework_memory, &to_.framework_memory, ReadFrameworkMemory),
        RowField(f::mark_gaps, &to_.mark_gaps, ReadMarkGaps), RowField(f::failures, &to_.failures, ReadFailures),
        RowField(f::kept_failures, &to_.kept_failures, ReadKeptFailure),
        RowField(f::early_frees, &to_.early_frees, ReadEarlyFree), RowField(f::resets, &to_.resets, ReadReset),
        RowField(f::settings, &to_.settings, ReadSetting));
  }

  bool OpenColumn() {
    const uint32_t field = in_.tag();
    if (field >= kColumns || in_.wire_type() != protozero::pbf_wire_type::length_delimited) return false;
    GetValue(in_, &column(field));
    return true;
  }

  bool ReadShapes() {
    while (!column(f::shape_site).done()) {
      to_.shapes.push_back(
          {column(f::shape_site).Next32(), column(f::shape_bytes).Next(), column(f::shape_stream).Next()});
      if (to_.shapes.back().site >= to_.sites.size()) return false;
    }
    return true;
  }

  bool ReadLive() {
    uint64_t run = 0, ordinal = 0, time = 0, address = 0;
    uint32_t thread = 0, next_shape = 0;
    while (!column(f::live_shape).done()) {
      if (run == 0) {
        if (column(f::run_length).done()) return false;
        thread = column(f::run_thread).Next32();
        run = column(f::run_length).Next();
        ordinal = 0;
        if (run == 0) return false;
      }
      --run;
      const uint64_t reference = column(f::live_shape).Next();
      const uint64_t shape = reference == 0 ? next_shape++ : reference - 1;
      if (shape >= to_.shapes.size()) return false;
      ordinal += column(f::live_ordinal).NextSigned();
      time += column(f::live_time).NextSigned();
      address += column(f::live_address).NextSigned();
      to_.live.push_back({thread, static_cast<uint32_t>(shape), ordinal, to_.start_time + (time << time_shift_),
                          address << address_shift_});
    }
    return true;
  }

  bool ReadFolds() {
    while (!column(f::fold_site).done()) {
      Checkpoint::Fold fold;
      fold.site = column(f::fold_site).Next32();
      fold.birth = column(f::fold_birth).Next32();
      const uint64_t bins = column(f::fold_bins).Next();
      if (fold.site >= to_.sites.size() || fold.birth > kMaxBin || bins > kMaxBin - fold.birth) return false;
      fold.death = fold.birth + static_cast<uint32_t>(bins);
      fold.count = column(f::fold_count).Next();
      fold.bytes = column(f::fold_bytes).Next();
      fold.age = column(f::fold_age).Next() << time_shift_;
      if (fold.count > 0) to_.folds.push_back(fold);
    }
    return true;
  }

  pbf_reader in_;
  Checkpoint& to_;
  uint32_t time_shift_ = 0, address_shift_ = 0;
  PackedColumn columns_[kColumns];
};

}  // namespace

uint32_t GenerationOfPart(std::string_view beginning) {
  const auto* at = reinterpret_cast<const uint8_t*>(beginning.data());
  const uint8_t* end = at + beginning.size();
  uint64_t tag, value;
  const bool found =
      GetVarint(&at, end, &tag) && tag == schema::checkpointPart_field::generation << 3 && GetVarint(&at, end, &value);
  return found ? static_cast<uint32_t>(value) : 0;
}

bool JoinCheckpoint(const std::vector<FrameRef>& parts, uint32_t generation, std::string* bytes) {
  namespace g = schema::checkpointPart_field;
  struct Part {
    uint32_t generation = 0, number = 0;
    bool last = false;
    std::string_view piece;
  };
  std::vector<Part> mine;
  for (const FrameRef& frame : parts) {
    Part part;
    try {
      ReadMessage(pbf_reader(frame.payload.data(), frame.payload.size()), Field(g::generation, &part.generation),
                  Field(g::part, &part.number), Field(g::last, &part.last), Field(g::piece, &part.piece));
    } catch (const protozero::exception&) {
      continue;
    }
    if (part.generation == generation) mine.push_back(part);
  }
  std::stable_sort(mine.begin(), mine.end(), [](const Part& a, const Part& b) { return a.number < b.number; });
  bytes->clear();
  for (size_t i = 0; i < mine.size() && mine[i].number == i; ++i) {
    bytes->append(mine[i].piece);
    if (mine[i].last) return true;
  }
  bytes->clear();
  return false;
}

bool ReadCheckpoint(std::string_view bytes, Checkpoint* checkpoint) {
  *checkpoint = {};
  try {
    return CheckpointReader(bytes, checkpoint).Read();
  } catch (const protozero::exception&) {
    return false;
  }
}

}  // namespace vramtrack
