// SPDX-License-Identifier: Apache-2.0
#include "proto/checkpoint.h"

#include <algorithm>

#include "proto/read_message.h"
#include "proto/schema_constants.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

using protozero::pbf_reader;
namespace f = schema::checkpoint_field;

constexpr uint32_t kMaxBin = 255;

CheckpointRecord ReadRecord(const RecordLayout& layout, pbf_reader in) {
  CheckpointRecord record;
  record.field = layout.field;
  record.operation = layout.operation;
  while (in.next()) {
    const size_t member = in.tag() - 1;
    if (member >= RecordLayout::kMostFields || layout.members[member] == nullptr) {
      in.skip();
    } else if (in.wire_type() == protozero::pbf_wire_type::fixed64) {
      record.*layout.members[member] = in.get_fixed64();
    } else {
      record.*layout.members[member] = in.get_uint64();
    }
  }
  return record;
}

class CheckpointReader {
 public:
  CheckpointReader(std::string_view bytes, Checkpoint* to) : in_(bytes.data(), bytes.size()), to_(*to) {}

  bool Read() {
    while (in_.next()) {
      if (!ReadField() && !ReadRecordField() && !OpenColumn()) in_.skip();
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
    return ReadAny(in_, Field(f::definitions, &to_.definitions), Field(f::events, &to_.events),
                   Field(f::start_time, &to_.start_time), Field(f::last_time, &to_.last_time),
                   Field(f::bin_shift, &to_.bin_shift), Field(f::unknown_frees, &to_.unknown_frees),
                   Field(f::time_shift, &time_shift_), Field(f::address_shift, &address_shift_));
  }

  bool ReadRecordField() {
    const RecordLayout* layout = RecordLayoutOf(in_.tag());
    if (layout != nullptr) to_.records.push_back(ReadRecord(*layout, in_.get_message()));
    return layout != nullptr;
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
