// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <utility>

#include "interpose/base/growing_array.h"
#include "interpose/recorder/evicted_history.h"
#include "interpose/recorder/live_set.h"
#include "proto/checkpoint_record.h"
#include "proto/frame.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

namespace f = schema::checkpoint_field;

// Births are kept to this fraction of a bin.
constexpr uint32_t kUnitsInBinShift = 14;

// Returns the field of Checkpoint for events that each bin keeps as a number, the first and the last: the first in the
// table.
uint32_t FieldOfKept(uint32_t operation) {
  for (const RecordLayout& layout : record_layouts::kAll) {
    if (layout.operation == operation) return layout.field;
  }
  return 0;
}

}  // namespace

// Encodes a EvictedHistory as a Checkpoint message. Use each object once.
class CheckpointEncoder {
 public:
  // The encoder appends to `*out`; it keeps both pointers, which must stay valid.
  CheckpointEncoder(EvictedHistory* past, uint32_t least_time_shift, GrowingArray<uint8_t>* out)
      : history_(*past), out_(*out), time_shift_(least_time_shift) {
    const uint32_t bin_shift = history_.bins_.shift();
    if (bin_shift > kUnitsInBinShift + time_shift_) time_shift_ = bin_shift - kUnitsInBinShift;
  }

  // Returns false if there is no memory; the contents of `*out` are then unusable.
  bool Encode() {
    WriteDefinitions();
    Varint(f::events, history_.events_);
    Varint(f::start_time, history_.bins_.start());
    Varint(f::last_time, history_.last_time_);
    Varint(f::bin_shift, history_.bins_.shift());
    Varint(f::time_shift, time_shift_);
    Varint(f::unknown_frees, history_.unknown_frees_);
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
    Raw(history_.definitions_.data(), history_.definitions_.size());
    history_.kept_.ForEach([this](uint64_t key, const EvictedHistory::Kept* kept) {
      namespace g = schema::hostReading_field;
      if (history_.event_sites_.Get(key >> 8).operation != EvictedHistory::kHostReading) return;
      const size_t reading = Begin(schema::definitions_field::host_readings);
      Varint(g::time, kept->time);
      Varint(g::resident, kept->value);
      Varint(g::shared, kept->second);
      End(reading);
    });
    // Threads that are gone with all that they allocated need no name.
    history_.threads_.Rebuild([this](uint64_t key, const EvictedHistory::Thread* thread) {
      if (thread->ended && thread->live == 0) return;
      Raw(thread->definition, thread->definition_bytes);
      EvictedHistory::Thread* kept = history_.threads_.Insert(key);
      good_ = good_ && kept != nullptr;
      if (kept != nullptr) *kept = *thread;
    });
    End(definitions);
  }

  void WriteThreads() {
    using Thread = EvictedHistory::Thread;
    Column(f::thread, &history_.threads_, [](uint64_t key, const Thread&) { return key - 1; });
    Column(f::thread_events, &history_.threads_, [](uint64_t, const Thread& thread) { return thread.events; });
    Column(f::thread_allocations, &history_.threads_,
           [](uint64_t, const Thread& thread) { return thread.allocations; });
  }

  void WriteSites() {
    RowColumn(f::site_kind, history_.sites_.rows(), &EvictedHistory::Site::kind);
    RowColumn(f::site_device, history_.sites_.rows(), &EvictedHistory::Site::device);
    RowColumn(f::site_stack, history_.sites_.rows(), &EvictedHistory::Site::stack);
  }

  // 0 for a shape that is new, otherwise 1 + its row.
  uint64_t ShapeReference(const LiveRecord& live) {
    const size_t before = history_.shapes_.size();
    const uint32_t number = history_.shapes_.FindOrAdd({live.site, live.bytes, live.stream});
    good_ = good_ && number != 0;
    return number > before ? 0 : number;
  }

  void WriteLive() {
    history_.shapes_.Clear();
    LiveColumn(f::live_shape, [this](const LiveRecord& live) { return ShapeReference(live); });
    RowColumn(f::shape_site, history_.shapes_.rows(), &EvictedHistory::Shape::site);
    RowColumn(f::shape_bytes, history_.shapes_.rows(), &EvictedHistory::Shape::bytes);
    RowColumn(f::shape_stream, history_.shapes_.rows(), &EvictedHistory::Shape::stream);

    // Journals are sealed one after the other, so threads come in long runs.
    const auto runs = [this](uint32_t field, auto on_run) {
      uint32_t thread = 0;
      uint64_t length = 0;
      const size_t begun = Begin(field);
      history_.live_.ForEach([&](const LiveRecord* live) {
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
      const uint64_t start = history_.bins_.start();
      return difference(live.time > start ? (live.time - start) >> time_shift_ : 0, &time);
    });
    history_.live_.ForEach([&](const LiveRecord* live) { all_addresses |= live->address; });
    const auto shift = static_cast<uint32_t>(all_addresses == 0 ? 0 : __builtin_ctzll(all_addresses));
    Varint(f::address_shift, shift);
    LiveColumn(f::live_address, [&](const LiveRecord& live) { return difference(live.address >> shift, &address); });
  }

  void WriteFolds() {
    using Sum = EvictedHistory::Sum;
    auto* sums = &history_.sums_;
    Column(f::fold_site, sums, [](uint64_t key, const Sum&) { return (key >> 16) - 1; });
    Column(f::fold_birth, sums, [](uint64_t key, const Sum&) { return key >> 8 & 0xff; });
    Column(f::fold_bins, sums, [](uint64_t key, const Sum&) { return (key & 0xff) - (key >> 8 & 0xff); });
    Column(f::fold_count, sums, [](uint64_t, const Sum& sum) { return sum.count; });
    Column(f::fold_bytes, sums, [](uint64_t, const Sum& sum) { return sum.bytes; });
    const uint64_t unit = (uint64_t{1} << time_shift_) - 1;
    Column(f::fold_age, sums, [&](uint64_t, const Sum& sum) { return (sum.age + unit) >> time_shift_; });
  }

  void WriteRecords() {
    history_.kept_.ForEach([this](uint64_t key, const EvictedHistory::Kept* kept) {
      const EvictedHistory::EventSite& site = history_.event_sites_.Get(key >> 8);
      if (site.operation == EvictedHistory::kHostReading) return;  // with the definitions
      Record(FieldOfKept(site.operation),
             {site.operation, site.thread, site.kind, site.device, site.stack, site.name, kept->count, kept->first_time,
              kept->first, kept->time, kept->value, kept->second});
    });
    for (uint64_t i = 0; i < history_.failures_.size(); ++i) Record(f::kept_failures, history_.failures_.events[i]);
    for (uint64_t i = 0; i < history_.settings_.size(); ++i) Record(f::settings, history_.settings_.events[i]);
    for (uint32_t device = 0; device < EvictedHistory::kDevices; ++device) {
      CheckpointRecord reset;
      reset.device = device;
      reset.time = history_.reset_time_[device];
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
    history_.early_.ForEach([&](uint64_t identity, const uint64_t* time) { free(identity, *time, 0); });
    history_.mapped_.ForEachReleased([&](uint64_t memory, uint64_t time) { free(memory, time, 0); });
    history_.threads_.ForEach([&](uint64_t key, const EvictedHistory::Thread* thread) {
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
    history_.live_.ForEach([&](const LiveRecord* live) { RawVarint(value_of(*live)); });
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

  EvictedHistory& history_;
  GrowingArray<uint8_t>& out_;
  uint32_t time_shift_;
  bool good_ = true;
};

bool EvictedHistory::Encode(uint32_t least_time_shift, GrowingArray<uint8_t>* out) {
  return !out_of_memory_ && CheckpointEncoder(this, least_time_shift, out).Encode();
}

}  // namespace vramtrack
