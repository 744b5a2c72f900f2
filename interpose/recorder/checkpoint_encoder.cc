// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <utility>

#include "interpose/base/growing_array.h"
#include "interpose/recorder/folded_past.h"
#include "interpose/recorder/identity.h"
#include "proto/checkpoint_record.h"
#include "proto/frame.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

namespace f = schema::checkpoint_field;

// Births are kept to this fraction of a bin.
constexpr uint32_t kUnitsInBinShift = 14;

// Returns the field of Checkpoint for events that each bin keeps as a number, the first and the last.
uint32_t FieldOfKept(uint32_t operation) {
  switch (operation) {
    case schema::STEP:
      return f::steps;
    case schema::MARK:
      return f::marks;
    case schema::MEMORY_INFO:
      return f::memory;
    case schema::FRAMEWORK_MEMORY:
      return f::framework_memory;
    default:
      return f::failures;
  }
}

}  // namespace

// Encodes a FoldedPast as a Checkpoint message. Use each object once.
class CheckpointEncoder {
 public:
  // The encoder appends to `*out`; it keeps both pointers, which must stay valid.
  CheckpointEncoder(FoldedPast* past, uint32_t least_time_shift, GrowingArray<uint8_t>* out)
      : past_(*past), out_(*out), time_shift_(least_time_shift) {
    const uint32_t bin_shift = past_.bins_.shift();
    if (bin_shift > kUnitsInBinShift + time_shift_) time_shift_ = bin_shift - kUnitsInBinShift;
  }

  // Returns false if there is no memory; the contents of `*out` are then unusable.
  bool Encode() {
    WriteDefinitions();
    Varint(f::events, past_.events_);
    Varint(f::start_time, past_.bins_.start());
    Varint(f::last_time, past_.last_time_);
    Varint(f::bin_shift, past_.bins_.shift());
    Varint(f::time_shift, time_shift_);
    Varint(f::unknown_frees, past_.unknown_frees_);
    WriteThreads();
    WriteSites();
    WriteLive();
    WriteFolds();
    WriteRecords();
    return good_;
  }

 private:
  void WriteDefinitions() {
    const size_t definitions = Begin(f::definitions);
    Raw(past_.definitions_.data(), past_.definitions_.size());
    past_.kept_.ForEach([this](uint64_t key, const FoldedPast::Kept* kept) {
      namespace g = schema::hostReading_field;
      if (past_.event_sites_.Get(key >> 8).operation != FoldedPast::kHostReading) return;
      const size_t reading = Begin(schema::definitions_field::host_readings);
      Varint(g::time, kept->time);
      Varint(g::resident, kept->value);
      Varint(g::shared, kept->second);
      End(reading);
    });
    // Threads that are gone with all that they allocated need no name.
    past_.threads_.Rebuild([this](uint64_t key, const FoldedPast::Thread* thread) {
      if (thread->ended && thread->live == 0) return;
      Raw(thread->definition, thread->definition_bytes);
      FoldedPast::Thread* kept = past_.threads_.Insert(key);
      good_ = good_ && kept != nullptr;
      if (kept != nullptr) *kept = *thread;
    });
    End(definitions);
  }

  void WriteThreads() {
    using Thread = FoldedPast::Thread;
    Column(f::thread, &past_.threads_, [](uint64_t key, const Thread&) { return key - 1; });
    Column(f::thread_events, &past_.threads_, [](uint64_t, const Thread& thread) { return thread.events; });
    Column(f::thread_allocations, &past_.threads_, [](uint64_t, const Thread& thread) { return thread.allocations; });
  }

  void WriteSites() {
    RowColumn(f::site_kind, past_.sites_.rows(), &FoldedPast::Site::kind);
    RowColumn(f::site_device, past_.sites_.rows(), &FoldedPast::Site::device);
    RowColumn(f::site_stack, past_.sites_.rows(), &FoldedPast::Site::stack);
  }

  // 0 for a shape that is new, otherwise 1 + its row.
  uint64_t ShapeReference(const LiveRecord& live) {
    const size_t before = past_.shapes_.size();
    const uint32_t number = past_.shapes_.FindOrAdd({live.site, live.bytes, live.stream});
    good_ = good_ && number != 0;
    return number > before ? 0 : number;
  }

  void WriteLive() {
    past_.shapes_.Clear();
    LiveColumn(f::live_shape, [this](const LiveRecord& live) { return ShapeReference(live); });
    RowColumn(f::shape_site, past_.shapes_.rows(), &FoldedPast::Shape::site);
    RowColumn(f::shape_bytes, past_.shapes_.rows(), &FoldedPast::Shape::bytes);
    RowColumn(f::shape_stream, past_.shapes_.rows(), &FoldedPast::Shape::stream);

    // Journals are sealed one after the other, so threads come in long runs.
    const auto runs = [this](uint32_t field, auto on_run) {
      uint32_t thread = 0;
      uint64_t length = 0;
      const size_t begun = Begin(field);
      past_.live_.ForEach([&](const LiveRecord* live) {
        const uint32_t next = Identity::Of(live->identity).thread;
        if (length > 0 && next != thread) {
          RawVarint(on_run(thread, length));
          length = 0;
        }
        thread = next;
        ++length;
      });
      if (length > 0) RawVarint(on_run(thread, length));
      End(begun);
    };
    runs(f::run_thread, [](uint32_t thread, uint64_t) { return thread; });
    runs(f::run_length, [](uint32_t, uint64_t length) { return length; });

    const auto difference = [](uint64_t value, uint64_t* before) {
      return ZigZag(static_cast<int64_t>(value - std::exchange(*before, value)));
    };
    uint64_t thread = UINT64_MAX, ordinal = 0, time = 0, address = 0, all_addresses = 0;
    LiveColumn(f::live_ordinal, [&](const LiveRecord& live) {
      const Identity name = Identity::Of(live.identity);
      if (std::exchange(thread, name.thread) != name.thread) ordinal = 0;
      return difference(name.ordinal, &ordinal);
    });
    LiveColumn(f::live_time, [&](const LiveRecord& live) {
      const uint64_t start = past_.bins_.start();
      return difference(live.time > start ? (live.time - start) >> time_shift_ : 0, &time);
    });
    past_.live_.ForEach([&](const LiveRecord* live) { all_addresses |= live->address; });
    const auto shift = static_cast<uint32_t>(all_addresses == 0 ? 0 : __builtin_ctzll(all_addresses));
    Varint(f::address_shift, shift);
    LiveColumn(f::live_address, [&](const LiveRecord& live) { return difference(live.address >> shift, &address); });
  }

  void WriteFolds() {
    using Sum = FoldedPast::Sum;
    auto* sums = &past_.sums_;
    Column(f::fold_site, sums, [](uint64_t key, const Sum&) { return (key >> 16) - 1; });
    Column(f::fold_birth, sums, [](uint64_t key, const Sum&) { return key >> 8 & 0xff; });
    Column(f::fold_bins, sums, [](uint64_t key, const Sum&) { return (key & 0xff) - (key >> 8 & 0xff); });
    Column(f::fold_count, sums, [](uint64_t, const Sum& sum) { return sum.count; });
    Column(f::fold_bytes, sums, [](uint64_t, const Sum& sum) { return sum.bytes; });
    const uint64_t unit = (uint64_t{1} << time_shift_) - 1;
    Column(f::fold_age, sums, [&](uint64_t, const Sum& sum) { return (sum.age + unit) >> time_shift_; });
  }

  void WriteRecords() {
    past_.kept_.ForEach([this](uint64_t key, const FoldedPast::Kept* kept) {
      const FoldedPast::EventSite& site = past_.event_sites_.Get(key >> 8);
      if (site.operation == FoldedPast::kHostReading) return;  // with the definitions
      Record(FieldOfKept(site.operation),
             {site.operation, site.thread, site.kind, site.device, site.stack, site.name, kept->count, kept->first_time,
              kept->first, kept->time, kept->value, kept->second});
    });
    const auto exact = [this](uint32_t field, const auto& kept) {
      for (uint64_t i = 0; i < kept.size(); ++i) {
        const FoldedPast::Exact& event = kept.events[i];
        Record(field, {event.operation, event.thread, event.kind, event.device, event.stack, 0, 0, 0, 0, event.time,
                       event.value, event.second});
      }
    };
    exact(f::kept_failures, past_.failures_);
    exact(f::settings, past_.settings_);
    for (uint32_t device = 0; device < FoldedPast::kDevices; ++device) {
      CheckpointRecord reset;
      reset.device = device;
      reset.time = past_.reset_time_[device];
      if (reset.time != 0) Record(f::resets, reset);
    }
    const auto free = [this](uint64_t identity, uint64_t time, uint64_t last_of) {
      CheckpointRecord freed;
      freed.thread = Identity::Of(identity).thread;
      freed.value = Identity::Of(identity).ordinal;
      freed.time = time;
      freed.second = last_of;
      Record(f::early_frees, freed);
    };
    past_.early_.ForEach([&](uint64_t identity, const uint64_t* time) { free(identity, *time, 0); });
    past_.mapped_.ForEachReleased([&](uint64_t memory, uint64_t time) { free(memory, time, 0); });
    past_.threads_.ForEach([&](uint64_t key, const FoldedPast::Thread* thread) {
      if (thread->pending != 0) free(thread->pending, thread->pending_time, key);
    });
  }

  // Writers of fields. A field with the value 0 is omitted; a column has all its values.
  void Varint(uint32_t field, uint64_t value) {
    if (value == 0) return;
    RawVarint(field << 3);
    RawVarint(value);
  }

  void Record(uint32_t field, const CheckpointRecord& record) {
    const RecordLayout& layout = *RecordLayoutOf(field);
    const size_t message = Begin(field);
    for (uint32_t i = 0; i < RecordLayout::kMostFields && layout.members[i] != nullptr; ++i) {
      const uint64_t value = record.*layout.members[i];
      if (i + 1 != layout.fixed64) {
        Varint(i + 1, value);
      } else if (value != 0) {
        RawVarint((i + 1) << 3 | 1);
        Raw(&value, sizeof value);
      }
    }
    End(message);
  }

  void Raw(const void* data, size_t bytes) {
    good_ = good_ && out_.Reserve(bytes);
    if (good_) out_.AddMany(static_cast<const uint8_t*>(data), bytes);
  }

  void RawVarint(uint64_t value) {
    uint8_t bytes[kMaxVarintBytes];
    Raw(bytes, static_cast<size_t>(PutVarint(bytes, value) - bytes));
  }

  size_t Begin(uint32_t field) {
    static constexpr uint8_t kNoLength[kLengthBytes] = {};
    RawVarint(field << 3 | 2);
    Raw(kNoLength, sizeof kNoLength);
    return out_.size();
  }

  void End(size_t begun) {
    if (good_) PutPaddedVarint(out_.data() + begun - kLengthBytes, out_.size() - begun, kLengthBytes);
  }

  template <typename ValueOf>
  void LiveColumn(uint32_t field, ValueOf value_of) {
    const size_t column = Begin(field);
    past_.live_.ForEach([&](const LiveRecord* live) { RawVarint(value_of(*live)); });
    End(column);
  }

  template <typename Table, typename ValueOf>
  void Column(uint32_t field, Table* table, ValueOf value_of) {
    const size_t column = Begin(field);
    table->ForEach([&](uint64_t key, const auto* entry) { RawVarint(value_of(key, *entry)); });
    End(column);
  }

  template <typename Rows, typename Member>
  void RowColumn(uint32_t field, const Rows& rows, Member member) {
    const size_t column = Begin(field);
    for (size_t i = 0; i < rows.size(); ++i) RawVarint(rows[i].*member);
    End(column);
  }

  FoldedPast& past_;
  GrowingArray<uint8_t>& out_;
  uint32_t time_shift_;
  bool good_ = true;
};

bool FoldedPast::Encode(uint32_t least_time_shift, GrowingArray<uint8_t>* out) {
  return !out_of_memory_ && CheckpointEncoder(this, least_time_shift, out).Encode();
}

}  // namespace vramtrack
