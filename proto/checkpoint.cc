// SPDX-License-Identifier: Apache-2.0
#include "proto/checkpoint.h"

#include <algorithm>

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

// Calls `on_field(number)`, which reads what it knows and returns false for the rest.
template <typename OnField>
void ReadFields(pbf_reader* in, OnField on_field) {
  while (in->next()) {
    if (!on_field(in->tag())) in->skip();
  }
}

Checkpoint::Steps ReadSteps(pbf_reader in) {
  namespace g = schema::foldedSteps_field;
  Checkpoint::Steps steps;
  ReadFields(&in, [&](uint32_t field) {
    switch (field) {
      case g::thread:
        return steps.thread = in.get_uint32(), true;
      case g::count:
        return steps.count = in.get_uint64(), true;
      case g::first_time:
        return steps.first_time = in.get_uint64(), true;
      case g::last_time:
        return steps.last_time = in.get_uint64(), true;
      case g::first_number:
        return steps.first_number = in.get_uint64(), true;
      case g::last_number:
        return steps.last_number = in.get_uint64(), true;
      case g::last_value:
        return steps.last_value = in.get_fixed64(), true;
      default:
        return false;
    }
  });
  return steps;
}

Checkpoint::Memory ReadMemory(pbf_reader in) {
  namespace g = schema::foldedMemory_field;
  Checkpoint::Memory memory;
  ReadFields(&in, [&](uint32_t field) {
    switch (field) {
      case g::device:
        return memory.device = in.get_uint32(), true;
      case g::time:
        return memory.time = in.get_uint64(), true;
      case g::free:
        return memory.free = in.get_uint64(), true;
      case g::total:
        return memory.total = in.get_uint64(), true;
      default:
        return false;
    }
  });
  return memory;
}

Checkpoint::FrameworkMemory ReadFrameworkMemory(pbf_reader in) {
  namespace g = schema::foldedFrameworkMemory_field;
  Checkpoint::FrameworkMemory memory;
  ReadFields(&in, [&](uint32_t field) {
    switch (field) {
      case g::device:
        return memory.device = in.get_uint32(), true;
      case g::time:
        return memory.time = in.get_uint64(), true;
      case g::given_out:
        return memory.given_out = in.get_uint64(), true;
      case g::reserved:
        return memory.reserved = in.get_uint64(), true;
      default:
        return false;
    }
  });
  return memory;
}

Checkpoint::Marks ReadMarks(pbf_reader in) {
  namespace g = schema::foldedMarks_field;
  Checkpoint::Marks marks;
  ReadFields(&in, [&](uint32_t field) {
    switch (field) {
      case g::thread:
        return marks.thread = in.get_uint32(), true;
      case g::kind:
        return marks.kind = in.get_uint32(), true;
      case g::stack:
        return marks.stack = in.get_uint32(), true;
      case g::name:
        return marks.name = in.get_uint32(), true;
      case g::count:
        return marks.count = in.get_uint64(), true;
      case g::first_time:
        return marks.first_time = in.get_uint64(), true;
      case g::last_time:
        return marks.last_time = in.get_uint64(), true;
      case g::first_number:
        return marks.first_number = in.get_uint64(), true;
      case g::last_number:
        return marks.last_number = in.get_uint64(), true;
      default:
        return false;
    }
  });
  return marks;
}

Checkpoint::Failure ReadFailures(pbf_reader in) {
  namespace g = schema::foldedFailures_field;
  Checkpoint::Failure failure;
  ReadFields(&in, [&](uint32_t field) {
    switch (field) {
      case g::kind:
        return failure.kind = in.get_uint32(), true;
      case g::device:
        return failure.device = in.get_uint32(), true;
      case g::stack:
        return failure.stack = in.get_uint32(), true;
      case g::error:
        return failure.error = in.get_uint64(), true;
      case g::count:
        return failure.count = in.get_uint64(), true;
      default:
        return false;
    }
  });
  return failure;
}

Checkpoint::Failure ReadKeptFailure(pbf_reader in) {
  namespace g = schema::keptFailure_field;
  Checkpoint::Failure failure;
  ReadFields(&in, [&](uint32_t field) {
    switch (field) {
      case g::thread:
        return failure.thread = in.get_uint32(), true;
      case g::kind:
        return failure.kind = in.get_uint32(), true;
      case g::device:
        return failure.device = in.get_uint32(), true;
      case g::stack:
        return failure.stack = in.get_uint32(), true;
      case g::error:
        return failure.error = in.get_uint64(), true;
      case g::bytes:
        return failure.bytes = in.get_uint64(), true;
      case g::time:
        return failure.time = in.get_uint64(), true;
      default:
        return false;
    }
  });
  return failure;
}

Checkpoint::EarlyFree ReadEarlyFree(pbf_reader in) {
  namespace g = schema::earlyFree_field;
  Checkpoint::EarlyFree free;
  ReadFields(&in, [&](uint32_t field) {
    switch (field) {
      case g::thread:
        return free.thread = in.get_uint32(), true;
      case g::ordinal:
        return free.ordinal = in.get_uint64(), true;
      case g::time:
        return free.time = in.get_uint64(), true;
      case g::last_of:
        return free.last_of = in.get_uint32(), true;
      default:
        return false;
    }
  });
  return free;
}

Checkpoint::Setting ReadSetting(pbf_reader in) {
  namespace g = schema::keptSetting_field;
  Checkpoint::Setting setting;
  ReadFields(&in, [&](uint32_t field) {
    switch (field) {
      case g::operation:
        return setting.operation = in.get_uint32(), true;
      case g::thread:
        return setting.thread = in.get_uint32(), true;
      case g::kind:
        return setting.kind = in.get_uint32(), true;
      case g::device:
        return setting.device = in.get_uint32(), true;
      case g::stack:
        return setting.stack = in.get_uint32(), true;
      case g::first:
        return setting.first = in.get_uint64(), true;
      case g::second:
        return setting.second = in.get_uint64(), true;
      case g::time:
        return setting.time = in.get_uint64(), true;
      default:
        return false;
    }
  });
  return setting;
}

Checkpoint::Reset ReadReset(pbf_reader in) {
  namespace g = schema::keptReset_field;
  Checkpoint::Reset reset;
  ReadFields(&in, [&](uint32_t field) {
    switch (field) {
      case g::device:
        return reset.device = in.get_uint32(), true;
      case g::time:
        return reset.time = in.get_uint64(), true;
      default:
        return false;
    }
  });
  return reset;
}

class CheckpointReader {
 public:
  CheckpointReader(std::string_view bytes, Checkpoint* to) : in_(bytes.data(), bytes.size()), to_(*to) {}

  bool Read() {
    ReadFields(&in_, [this](uint32_t field) { return ReadField(field); });
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

  bool ReadField(uint32_t field) {
    switch (field) {
      case f::definitions: {
        const protozero::data_view view = in_.get_view();
        to_.definitions = {view.data(), view.size()};
        return true;
      }
      case f::events:
        return to_.events = in_.get_uint64(), true;
      case f::start_time:
        return to_.start_time = in_.get_uint64(), true;
      case f::last_time:
        return to_.last_time = in_.get_uint64(), true;
      case f::bin_shift:
        return to_.bin_shift = in_.get_uint32(), true;
      case f::time_shift:
        return time_shift_ = in_.get_uint32(), true;
      case f::address_shift:
        return address_shift_ = in_.get_uint32(), true;
      case f::unknown_frees:
        return to_.unknown_frees = in_.get_uint64(), true;
      case f::steps:
        return to_.steps.push_back(ReadSteps(in_.get_message())), true;
      case f::memory:
        return to_.memory.push_back(ReadMemory(in_.get_message())), true;
      case f::marks:
        return to_.marks.push_back(ReadMarks(in_.get_message())), true;
      case f::framework_memory:
        return to_.framework_memory.push_back(ReadFrameworkMemory(in_.get_message())), true;
      case f::failures:
        return to_.failures.push_back(ReadFailures(in_.get_message())), true;
      case f::kept_failures:
        return to_.kept_failures.push_back(ReadKeptFailure(in_.get_message())), true;
      case f::early_frees:
        return to_.early_frees.push_back(ReadEarlyFree(in_.get_message())), true;
      case f::resets:
        return to_.resets.push_back(ReadReset(in_.get_message())), true;
      case f::settings:
        return to_.settings.push_back(ReadSetting(in_.get_message())), true;
      default:
        if (field >= kColumns || in_.wire_type() != protozero::pbf_wire_type::length_delimited) return false;
        return columns_[field].Open(&in_), true;
    }
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
    uint32_t number = 0;
    bool last = false;
    std::string_view piece;
  };
  std::vector<Part> mine;
  for (const FrameRef& frame : parts) {
    Part part;
    uint32_t of = 0;
    try {
      pbf_reader in(frame.payload.data(), frame.payload.size());
      ReadFields(&in, [&](uint32_t field) {
        switch (field) {
          case g::generation:
            return of = in.get_uint32(), true;
          case g::part:
            return part.number = in.get_uint32(), true;
          case g::last:
            return part.last = in.get_bool(), true;
          case g::piece: {
            const protozero::data_view view = in.get_view();
            part.piece = {view.data(), view.size()};
            return true;
          }
          default:
            return false;
        }
      });
    } catch (const protozero::exception&) {
      continue;
    }
    if (of == generation) mine.push_back(part);
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
