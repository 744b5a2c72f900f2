// SPDX-License-Identifier: Apache-2.0
#include "proto/checkpoint.h"

#include <algorithm>

#include "proto/gap_sizes.h"
#include "proto/pbf_reader.h"
#include "proto/schema_constants.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

using protozero::pbf_reader;
namespace f = schema::checkpoint_field;

constexpr uint32_t kMaxBin = 255;

// The values of a packed column, one by one.
class Column {
 public:
  void Open(pbf_reader* in) {
    const protozero::data_view view = in->get_view();
    at_ = reinterpret_cast<const uint8_t*>(view.data());
    end_ = at_ + view.size();
  }
  bool done() const { return at_ == end_; }
  // 0 where it has no more.
  uint64_t Next() {
    uint64_t value = 0;
    if (at_ != end_ && !GetVarint(&at_, end_, &value)) at_ = end_;
    return value;
  }
  uint32_t Next32() { return static_cast<uint32_t>(Next()); }
  uint64_t NextSigned() { return static_cast<uint64_t>(UnZigZag(Next())); }

 private:
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
};

// How a value is read, by the type of the member that it goes to.
void Get(pbf_reader* in, bool* to) { *to = in->get_bool(); }
void Get(pbf_reader* in, uint32_t* to) { *to = in->get_uint32(); }
void Get(pbf_reader* in, uint64_t* to) { *to = in->get_uint64(); }
void Get(pbf_reader* in, std::string_view* to) {
  const protozero::data_view view = in->get_view();
  *to = {view.data(), view.size()};
}
void GetFixed64(pbf_reader* in, uint64_t* to) { *to = in->get_fixed64(); }

// A field of a message: its number, the member that it goes to, and how it is read.
template <typename Message, typename Value>
class Field {
 public:
  using Getter = void (*)(pbf_reader*, Value*);
  constexpr Field(uint32_t number, Value Message::*to, Getter get = Get) : number_(number), to_(to), get_(get) {}

  // False, with nothing read, where `in` is at another field.
  bool Read(pbf_reader* in, Message* message) const {
    if (in->tag() != number_) return false;
    get_(in, &(message->*to_));
    return true;
  }

 private:
  uint32_t number_;
  Value Message::*to_;
  Getter get_;
};

// Fields that are not among `fields` are skipped.
template <typename Message, typename... Values>
Message ReadMessage(pbf_reader in, Field<Message, Values>... fields) {
  Message message;
  while (in.next()) {
    if (!(fields.Read(&in, &message) || ...)) in.skip();
  }
  return message;
}

Checkpoint::Steps ReadSteps(pbf_reader in) {
  namespace g = schema::foldedSteps_field;
  using M = Checkpoint::Steps;
  return ReadMessage(in, Field(g::thread, &M::thread), Field(g::count, &M::count), Field(g::first_time, &M::first_time),
                     Field(g::last_time, &M::last_time), Field(g::first_number, &M::first_number),
                     Field(g::last_number, &M::last_number), Field(g::last_value, &M::last_value, GetFixed64));
}

Checkpoint::Memory ReadMemory(pbf_reader in) {
  namespace g = schema::foldedMemory_field;
  using M = Checkpoint::Memory;
  return ReadMessage(in, Field(g::device, &M::device), Field(g::time, &M::time), Field(g::free, &M::free),
                     Field(g::total, &M::total));
}

Checkpoint::FrameworkMemory ReadFrameworkMemory(pbf_reader in) {
  namespace g = schema::foldedFrameworkMemory_field;
  using M = Checkpoint::FrameworkMemory;
  return ReadMessage(in, Field(g::device, &M::device), Field(g::time, &M::time), Field(g::given_out, &M::given_out),
                     Field(g::reserved, &M::reserved));
}

Checkpoint::Marks ReadMarks(pbf_reader in) {
  namespace g = schema::foldedMarks_field;
  using M = Checkpoint::Marks;
  return ReadMessage(in, Field(g::thread, &M::thread), Field(g::kind, &M::kind), Field(g::stack, &M::stack),
                     Field(g::name, &M::name), Field(g::count, &M::count), Field(g::first_time, &M::first_time),
                     Field(g::last_time, &M::last_time), Field(g::first_number, &M::first_number),
                     Field(g::last_number, &M::last_number));
}

Checkpoint::MarkGaps ReadMarkGaps(pbf_reader in) {
  namespace g = schema::markGaps_field;
  Checkpoint::MarkGaps gaps;
  Column sizes, counts, ticks;
  while (in.next()) {
    switch (in.tag()) {
      case g::thread:
        gaps.thread = in.get_uint32();
        break;
      case g::kind:
        gaps.kind = in.get_uint32();
        break;
      case g::stack:
        gaps.stack = in.get_uint32();
        break;
      case g::name:
        gaps.name = in.get_uint32();
        break;
      case g::shortest:
        gaps.shortest = in.get_uint64();
        break;
      case g::longest:
        gaps.longest = in.get_uint64();
        break;
      case g::gap_size:
        sizes.Open(&in);
        break;
      case g::gap_count:
        counts.Open(&in);
        break;
      case g::gap_ticks:
        ticks.Open(&in);
        break;
      default:
        in.skip();
    }
  }
  while (!sizes.done()) {
    const Checkpoint::MarkGaps::Gaps one = {sizes.Next32(), counts.Next(), ticks.Next()};
    if (one.size < kGapSizes) gaps.gaps.push_back(one);
  }
  return gaps;
}

Checkpoint::Failure ReadFailures(pbf_reader in) {
  namespace g = schema::foldedFailures_field;
  using M = Checkpoint::Failure;
  return ReadMessage(in, Field(g::kind, &M::kind), Field(g::device, &M::device), Field(g::stack, &M::stack),
                     Field(g::error, &M::error), Field(g::count, &M::count));
}

Checkpoint::Failure ReadKeptFailure(pbf_reader in) {
  namespace g = schema::keptFailure_field;
  using M = Checkpoint::Failure;
  return ReadMessage(in, Field(g::thread, &M::thread), Field(g::kind, &M::kind), Field(g::device, &M::device),
                     Field(g::stack, &M::stack), Field(g::error, &M::error), Field(g::bytes, &M::bytes),
                     Field(g::time, &M::time));
}

Checkpoint::EarlyFree ReadEarlyFree(pbf_reader in) {
  namespace g = schema::earlyFree_field;
  using M = Checkpoint::EarlyFree;
  return ReadMessage(in, Field(g::thread, &M::thread), Field(g::ordinal, &M::ordinal), Field(g::time, &M::time),
                     Field(g::last_of, &M::last_of));
}

Checkpoint::Setting ReadSetting(pbf_reader in) {
  namespace g = schema::keptSetting_field;
  using M = Checkpoint::Setting;
  return ReadMessage(in, Field(g::operation, &M::operation), Field(g::thread, &M::thread), Field(g::kind, &M::kind),
                     Field(g::device, &M::device), Field(g::stack, &M::stack), Field(g::first, &M::first),
                     Field(g::second, &M::second), Field(g::time, &M::time));
}

Checkpoint::Reset ReadReset(pbf_reader in) {
  namespace g = schema::keptReset_field;
  using M = Checkpoint::Reset;
  return ReadMessage(in, Field(g::device, &M::device), Field(g::time, &M::time));
}

// Reads a field that is a message, a row of `*to`.
template <typename Row, Row (*ReadRow)(pbf_reader)>
void Add(pbf_reader* in, std::vector<Row>* to) {
  to->push_back(ReadRow(in->get_message()));
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
  Column& column(uint32_t field) { return columns_[field]; }

  template <typename Message, typename... Values>
  bool ReadInto(Message* message, Field<Message, Values>... fields) {
    return (fields.Read(&in_, message) || ...);
  }

  bool ReadField() {
    using C = Checkpoint;
    return ReadInto(&to_, Field(f::definitions, &C::definitions), Field(f::events, &C::events),
                    Field(f::start_time, &C::start_time), Field(f::last_time, &C::last_time),
                    Field(f::bin_shift, &C::bin_shift), Field(f::unknown_frees, &C::unknown_frees),
                    Field(f::steps, &C::steps, Add<C::Steps, ReadSteps>),
                    Field(f::memory, &C::memory, Add<C::Memory, ReadMemory>),
                    Field(f::marks, &C::marks, Add<C::Marks, ReadMarks>),
                    Field(f::framework_memory, &C::framework_memory, Add<C::FrameworkMemory, ReadFrameworkMemory>),
                    Field(f::mark_gaps, &C::mark_gaps, Add<C::MarkGaps, ReadMarkGaps>),
                    Field(f::failures, &C::failures, Add<C::Failure, ReadFailures>),
                    Field(f::kept_failures, &C::kept_failures, Add<C::Failure, ReadKeptFailure>),
                    Field(f::early_frees, &C::early_frees, Add<C::EarlyFree, ReadEarlyFree>),
                    Field(f::resets, &C::resets, Add<C::Reset, ReadReset>),
                    Field(f::settings, &C::settings, Add<C::Setting, ReadSetting>)) ||
           ReadInto(this, Field(f::time_shift, &CheckpointReader::time_shift_),
                    Field(f::address_shift, &CheckpointReader::address_shift_));
  }

  bool OpenColumn() {
    const uint32_t field = in_.tag();
    if (field >= kColumns || in_.wire_type() != protozero::pbf_wire_type::length_delimited) return false;
    column(field).Open(&in_);
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
  Column columns_[kColumns];
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
      part =
          ReadMessage(pbf_reader(frame.payload.data(), frame.payload.size()), Field(g::generation, &Part::generation),
                      Field(g::part, &Part::number), Field(g::last, &Part::last), Field(g::piece, &Part::piece));
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
