// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/checkpoint_encoder.h"

#include "interpose/recorder/identity.h"
#include "proto/frame.h"
#include "proto/gap_sizes.h"
#include "proto/hash.h"
#include "proto/varint.h"

namespace vramtrack {
namespace {

namespace f = schema::checkpoint_field;

// Births are kept to this fraction of a bin.
constexpr uint32_t kUnitsInBinShift = 14;

}  // namespace

CheckpointEncoder::CheckpointEncoder(FoldedPast* past, uint32_t least_time_shift, GrowingArray<uint8_t>* out)
    : past_(*past), out_(*out), time_shift_(least_time_shift) {
  const uint32_t bin_shift = past_.bins_.shift();
  if (bin_shift > kUnitsInBinShift + time_shift_) time_shift_ = bin_shift - kUnitsInBinShift;
}

bool CheckpointEncoder::Encode() {
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
  WriteSteps();
  WriteGaps();
  WriteMemory();
  WriteFailures();
  WriteSettings();
  WriteFrees();
  return good_;
}

void CheckpointEncoder::RawVarint(uint64_t value) {
  uint8_t bytes[kMaxVarintBytes];
  Raw(bytes, static_cast<size_t>(PutVarint(bytes, value) - bytes));
}

void CheckpointEncoder::Raw(const void* data, size_t bytes) {
  good_ = good_ && out_.Reserve(bytes);
  if (good_) out_.AddMany(static_cast<const uint8_t*>(data), bytes);
}

void CheckpointEncoder::Varint(uint32_t field, uint64_t value) {
  if (value == 0) return;
  RawVarint(field << 3);
  RawVarint(value);
}

void CheckpointEncoder::Varints(std::initializer_list<Field> fields) {
  for (const Field& field : fields) Varint(field.number, field.value);
}

void CheckpointEncoder::Message(uint32_t number, std::initializer_list<Field> fields) {
  const size_t message = Begin(number);
  Varints(fields);
  End(message);
}

void CheckpointEncoder::Fixed64(uint32_t field, uint64_t value) {
  if (value == 0) return;
  RawVarint(field << 3 | 1);
  Raw(&value, sizeof value);
}

size_t CheckpointEncoder::Begin(uint32_t field) {
  static constexpr uint8_t kNoLength[kLengthBytes] = {};
  RawVarint(field << 3 | 2);
  Raw(kNoLength, sizeof kNoLength);
  return out_.size();
}

void CheckpointEncoder::End(size_t begun) {
  if (good_) PutPaddedVarint(out_.data() + begun - kLengthBytes, out_.size() - begun, kLengthBytes);
}

template <typename Table, typename ValueOf>
void CheckpointEncoder::Column(uint32_t field, Table* table, ValueOf value_of) {
  const size_t column = Begin(field);
  table->ForEach([&](uint64_t key, const auto* entry) { RawVarint(value_of(key, *entry)); });
  End(column);
}

template <typename Rows, typename Member>
void CheckpointEncoder::RowColumn(uint32_t field, const Rows& rows, Member member) {
  const size_t column = Begin(field);
  for (size_t i = 0; i < rows.size(); ++i) RawVarint(rows[i].*member);
  End(column);
}

void CheckpointEncoder::WriteDefinitions() {
  const size_t definitions = Begin(f::definitions);
  Raw(past_.definitions_.data(), past_.definitions_.size());
  past_.host_readings_.ForEach([this](uint64_t, const FoldedPast::HostReading* reading) {
    namespace g = schema::hostReading_field;
    Message(schema::definitions_field::host_readings,
            {{g::time, reading->time}, {g::resident, reading->resident}, {g::shared, reading->shared}});
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

void CheckpointEncoder::WriteThreads() {
  using Thread = FoldedPast::Thread;
  Column(f::thread, &past_.threads_, [](uint64_t key, const Thread&) { return key - 1; });
  Column(f::thread_events, &past_.threads_, [](uint64_t, const Thread& thread) { return thread.events; });
  Column(f::thread_allocations, &past_.threads_, [](uint64_t, const Thread& thread) { return thread.allocations; });
}

void CheckpointEncoder::WriteSites() {
  RowColumn(f::site_kind, past_.sites_, &FoldedPast::Site::kind);
  RowColumn(f::site_device, past_.sites_, &FoldedPast::Site::device);
  RowColumn(f::site_stack, past_.sites_, &FoldedPast::Site::stack);
}

// 0 for a shape that is new, otherwise 1 + its row.
uint64_t CheckpointEncoder::ShapeReference(const LiveRecord& live) {
  uint64_t key = Mix(Mix(live.site + 1u, live.bytes), live.stream) | 1;
  for (;; key = Mix(key, 1) | 1) {
    uint32_t* row = past_.shape_index_.Insert(key);
    good_ = good_ && row != nullptr && past_.shapes_.Reserve(1);
    if (!good_) return 0;
    if (*row == 0) {
      past_.shapes_.Add({live.site, live.bytes, live.stream});
      *row = static_cast<uint32_t>(past_.shapes_.size());
      return 0;
    }
    const FoldedPast::Shape& shape = past_.shapes_[*row - 1];
    if (shape.site == live.site && shape.bytes == live.bytes && shape.stream == live.stream) return *row;
  }
}

void CheckpointEncoder::WriteLive() {
  past_.shapes_.Clear();
  past_.shape_index_.Rebuild([](uint64_t, const uint32_t*) {});
  size_t column = Begin(f::live_shape);
  past_.live_.ForEach([this](const LiveRecord* live) { RawVarint(ShapeReference(*live)); });
  End(column);

  RowColumn(f::shape_site, past_.shapes_, &FoldedPast::Shape::site);
  RowColumn(f::shape_bytes, past_.shapes_, &FoldedPast::Shape::bytes);
  RowColumn(f::shape_stream, past_.shapes_, &FoldedPast::Shape::stream);

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

  column = Begin(f::live_ordinal);
  uint64_t thread = UINT64_MAX, before = 0;
  past_.live_.ForEach([&](const LiveRecord* live) {
    const Identity name = Identity::Of(live->identity);
    if (name.thread != thread) before = 0;
    thread = name.thread;
    RawVarint(ZigZag(static_cast<int64_t>(name.ordinal - before)));
    before = name.ordinal;
  });
  End(column);

  column = Begin(f::live_time);
  before = 0;
  past_.live_.ForEach([&](const LiveRecord* live) {
    const uint64_t start = past_.bins_.start();
    const uint64_t time = live->time > start ? (live->time - start) >> time_shift_ : 0;
    RawVarint(ZigZag(static_cast<int64_t>(time - before)));
    before = time;
  });
  End(column);

  uint64_t all = 0;
  past_.live_.ForEach([&all](const LiveRecord* live) { all |= live->address; });
  const uint32_t address_shift = all == 0 ? 0 : static_cast<uint32_t>(__builtin_ctzll(all));
  Varint(f::address_shift, address_shift);
  column = Begin(f::live_address);
  before = 0;
  past_.live_.ForEach([&](const LiveRecord* live) {
    RawVarint(ZigZag(static_cast<int64_t>((live->address >> address_shift) - before)));
    before = live->address >> address_shift;
  });
  End(column);
}

void CheckpointEncoder::WriteFolds() {
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

void CheckpointEncoder::WriteSteps() {
  namespace g = schema::foldedSteps_field;
  past_.steps_.ForEach([this](uint64_t key, const FoldedPast::Steps* steps) {
    const size_t message = Begin(f::steps);
    Varints({{g::thread, (key >> 8) - 1},
             {g::count, steps->count},
             {g::first_time, steps->first_time},
             {g::last_time, steps->last_time},
             {g::first_number, steps->first_number},
             {g::last_number, steps->last_number}});
    Fixed64(g::last_value, steps->value);
    End(message);
  });
  past_.marks_.ForEach([this](uint64_t key, const FoldedPast::Marks* marks) {
    namespace h = schema::foldedMarks_field;
    const FoldedPast::MarkSite& site = past_.mark_sites_[(key >> 8) - 1];
    Message(f::marks, {{h::thread, site.thread},
                       {h::kind, site.kind},
                       {h::stack, site.stack},
                       {h::name, site.name},
                       {h::count, marks->count},
                       {h::first_time, marks->first_time},
                       {h::last_time, marks->last_time},
                       {h::first_number, marks->first_number},
                       {h::last_number, marks->last_number}});
  });
}

void CheckpointEncoder::WriteGaps() {
  namespace g = schema::markGaps_field;
  for (size_t row = 0; row < past_.spreads_.size(); ++row) {
    const FoldedPast::Spread& spread = past_.spreads_[row];
    if (spread.shortest > spread.longest) continue;  // one event has no gap
    const FoldedPast::MarkSite& site = past_.mark_sites_[row];
    const size_t message = Begin(f::mark_gaps);
    Varints({{g::thread, site.thread},
             {g::kind, site.kind},
             {g::stack, site.stack},
             {g::name, site.name},
             {g::shortest, spread.shortest},
             {g::longest, spread.longest}});
    const auto column = [&](uint32_t field, auto value_of) {
      const size_t begun = Begin(field);
      for (uint32_t size = 0; size < kGapSizes; ++size) {
        if (const FoldedPast::Gaps* gaps = past_.gaps_.Find((row + 1) << 8 | size)) RawVarint(value_of(size, *gaps));
      }
      End(begun);
    };
    column(g::gap_size, [](uint32_t size, const FoldedPast::Gaps&) { return size; });
    column(g::gap_count, [](uint32_t, const FoldedPast::Gaps& gaps) { return gaps.count; });
    column(g::gap_ticks, [](uint32_t, const FoldedPast::Gaps& gaps) { return gaps.ticks; });
    End(message);
  }
}

void CheckpointEncoder::WriteMemory() {
  namespace g = schema::foldedMemory_field;
  past_.memory_.ForEach([this](uint64_t key, const FoldedPast::Memory* memory) {
    Message(f::memory,
            {{g::device, (key >> 8) - 1}, {g::time, memory->time}, {g::free, memory->free}, {g::total, memory->total}});
  });
  past_.framework_memory_.ForEach([this](uint64_t key, const FoldedPast::FrameworkMemory* memory) {
    namespace h = schema::foldedFrameworkMemory_field;
    Message(f::framework_memory, {{h::device, (key >> 8) - 1},
                                  {h::time, memory->time},
                                  {h::given_out, memory->given_out},
                                  {h::reserved, memory->reserved}});
  });
  for (uint32_t device = 0; device < FoldedPast::kDevices; ++device) {
    if (past_.reset_time_[device] == 0) continue;
    Message(f::resets,
            {{schema::keptReset_field::device, device}, {schema::keptReset_field::time, past_.reset_time_[device]}});
  }
}

void CheckpointEncoder::WriteSettings() {
  namespace g = schema::keptSetting_field;
  for (uint64_t i = 0; i < past_.settings_ && i < FoldedPast::kKeptSettings; ++i) {
    const FoldedPast::Setting& kept = past_.kept_settings_[i];
    Message(f::settings, {{g::operation, kept.operation},
                          {g::thread, kept.thread},
                          {g::kind, kept.kind},
                          {g::device, kept.device},
                          {g::stack, kept.stack},
                          {g::first, kept.first},
                          {g::second, kept.second},
                          {g::time, kept.time}});
  }
}

void CheckpointEncoder::WriteFailures() {
  past_.failed_.ForEach([this](uint64_t key, const uint64_t* count) {
    namespace g = schema::foldedFailures_field;
    Message(f::failures, {{g::kind, key >> 24 & 0xff},
                          {g::device, key >> 16 & 0xff},
                          {g::stack, key >> 32},
                          {g::error, key & 0xffff},
                          {g::count, *count}});
  });
  constexpr uint64_t kMost = 2 * FoldedPast::kKeptFailures;
  for (uint64_t i = 0; i < past_.failures_ && i < kMost; ++i) {
    namespace g = schema::keptFailure_field;
    const FoldedPast::Failure& kept = past_.kept_failures_[i];
    Message(f::kept_failures, {{g::thread, kept.thread},
                               {g::kind, kept.kind},
                               {g::device, kept.device},
                               {g::stack, kept.stack},
                               {g::error, kept.error},
                               {g::bytes, kept.bytes},
                               {g::time, kept.time}});
  }
}

void CheckpointEncoder::WriteFrees() {
  namespace g = schema::earlyFree_field;
  const auto write = [this](uint64_t identity, uint64_t time, uint64_t last_of) {
    Message(f::early_frees, {{g::thread, Identity::Of(identity).thread},
                             {g::ordinal, Identity::Of(identity).ordinal},
                             {g::time, time},
                             {g::last_of, last_of}});
  };
  past_.early_.ForEach([&](uint64_t identity, const uint64_t* time) { write(identity, *time, 0); });
  past_.mapped_.ForEachReleased([&](uint64_t memory, uint64_t time) { write(memory, time, 0); });
  past_.threads_.ForEach([&](uint64_t key, const FoldedPast::Thread* thread) {
    if (thread->pending != 0) write(thread->pending, thread->pending_time, key);
  });
}

bool FoldedPast::Encode(uint32_t least_time_shift, GrowingArray<uint8_t>* out) {
  return !out_of_memory_ && CheckpointEncoder(this, least_time_shift, out).Encode();
}

}  // namespace vramtrack
