// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/past_events.h"

#include <algorithm>

namespace vramtrack {
namespace {

// Of what no thread is known to have recorded.
constexpr ThreadSlot kFirstSlot(0);

// The i-th of n shares of `whole`; together they are all of it.
uint64_t ShareOf(uint64_t whole, uint64_t i, uint64_t n) { return whole / n + (i < whole % n); }

// The i-th of n places in the middle of equal parts of [begin, end).
uint64_t PlaceIn(uint64_t begin, uint64_t end, uint64_t i, uint64_t n) {
  return begin + (end - begin) / (2 * n) * (2 * i + 1);
}

// The i-th of n values that are evenly spread from `first` to `last`.
uint64_t Between(uint64_t first, uint64_t last, uint64_t i, uint64_t n) {
  const uint64_t span = last > first ? last - first : 0;
  if (i + 1 == n) return first + span;
  return first + static_cast<uint64_t>(static_cast<double>(i) / static_cast<double>(n - 1) * static_cast<double>(span));
}

}  // namespace

PastEvents::PastEvents(const Trace& trace, const std::vector<bool>& undone)
    : trace_(trace), past_(*trace.past()), births_(kBins), deaths_(kBins), several_(kBins) {
  shapes_.reserve(past_.shapes.size() + 2 * past_.sites.size() + past_.records.size());
  for (const Checkpoint::Shape& shape : past_.shapes) {
    const Checkpoint::Site& site = past_.sites[shape.site];
    AddShape(schema::ALLOCATE, site.kind, site.device, site.stack, shape.bytes, shape.stream);
  }
  first_site_shape_ = static_cast<uint32_t>(shapes_.size());
  for (const Checkpoint::Site& site : past_.sites) {
    AddShape(schema::FOLD_ALLOCATE, site.kind, site.device, site.stack, 0, 0);
    AddShape(schema::FOLD_FREE, site.kind, site.device, site.stack, 0, 0);
  }
  for (uint32_t i = 0; i < past_.folds.size(); ++i) {
    const Checkpoint::Fold& fold = past_.folds[i];
    births_[fold.birth].push_back(i);
    if (fold.death != fold.birth) deaths_[fold.death].push_back(i);
  }
  SortLive();
  for (const CheckpointRecord& record : past_.records) {
    if (record.field == schema::checkpoint_field::resets) latest_reset_ = std::max(latest_reset_, record.time);
  }
  for (size_t i = 0; i < past_.records.size(); ++i) {
    if (i >= undone.size() || !undone[i]) AddRecord(past_.records[i]);
  }
  std::stable_sort(singles_.begin(), singles_.end(),
                   [](const StreamEvent& a, const StreamEvent& b) { return a.time < b.time; });
  notes_.resize(shapes_.size());
}

uint32_t PastEvents::AddShape(uint32_t operation, uint32_t kind, uint32_t device, uint32_t stack, uint64_t bytes,
                              uint64_t stream) {
  shapes_.push_back({operation, kind, device, stack, bytes, stream});
  return static_cast<uint32_t>(shapes_.size() - 1);
}

// Without its note, which has its place once all shapes are known.
StreamEvent PastEvents::EventOf(uint32_t shape, uint64_t time, ThreadSlot slot) {
  StreamEvent event = {};
  event.operation = shapes_[shape].operation;
  event.slot = event.owner = slot;
  event.shape = &shapes_[shape];
  event.time = time;
  event.past = true;
  return event;
}

void PastEvents::SortLive() {
  live_order_.resize(past_.live.size());
  for (uint32_t i = 0; i < live_order_.size(); ++i) live_order_[i] = i;
  std::stable_sort(live_order_.begin(), live_order_.end(),
                   [this](uint32_t a, uint32_t b) { return past_.live[a].time < past_.live[b].time; });
  live_ranks_.reserve(live_order_.size());
  for (uint64_t rank = 0; rank < live_order_.size(); ++rank) {
    const Checkpoint::Live& live = past_.live[live_order_[rank]];
    live_ranks_.try_emplace({trace_.SlotOf(live.thread), live.ordinal}, rank);
  }
}

void PastEvents::AddRecord(const CheckpointRecord& record) {
  namespace f = schema::checkpoint_field;
  if (record.field == f::failures) return;  // mere counts
  if (record.field == f::early_frees) return AddEarlyFree(record);
  const auto operation = static_cast<uint32_t>(record.operation);
  if (record.field == f::settings && operation != schema::TRIM && operation != schema::LIMIT) return;
  const uint32_t shape =
      AddShape(operation, static_cast<uint32_t>(record.kind), static_cast<uint32_t>(record.device),
               static_cast<uint32_t>(record.stack), operation == schema::FAIL ? record.second : 0, 0);
  if (record.field == f::steps || record.field == f::marks) {
    several_[BinOf(record.first_time)].push_back({&record, shape});
    return;
  }
  const ThreadSlot slot = trace_.SlotOf(static_cast<uint32_t>(record.thread));
  StreamEvent event = EventOf(shape, record.time, slot.is_none() ? kFirstSlot : slot);
  event.value[0] = record.value;
  event.value[1] = operation == schema::FAIL ? 0 : record.second;
  singles_.push_back(event);
}

void PastEvents::AddEarlyFree(const CheckpointRecord& free) {
  const auto thread = static_cast<uint32_t>(free.thread), last_of = static_cast<uint32_t>(free.second);
  const uint64_t ordinal = free.value;
  const ThreadSlot owner = trace_.SlotOf(thread);
  const bool of_past = !owner.is_none() && ordinal < trace_.threads()[owner].past_allocations;
  if (of_past && EndedByReset(owner, ordinal, free.time)) return;
  uint64_t time = free.time;
  Checkpoint::Site site = {};  // unknown while its allocation is
  const auto rank = live_ranks_.find({owner, ordinal});
  if (rank != live_ranks_.end()) {
    const Checkpoint::Live& live = past_.live[live_order_[rank->second]];
    time = std::max(time, live.time);
    site = past_.sites[past_.shapes[live.shape].site];
  }
  const ThreadSlot slot = last_of == 0 ? kFirstSlot : trace_.SlotOf(last_of - 1);
  StreamEvent event =
      EventOf(AddShape(schema::FREE, site.kind, site.device, thread, 0, 0), time, slot.is_none() ? kFirstSlot : slot);
  event.owner = owner;
  event.ordinal = ordinal;
  singles_.push_back(event);
}

uint32_t PastEvents::BinOf(uint64_t time) const {
  if (time <= past_.start_time) return 0;
  return static_cast<uint32_t>(std::min<uint64_t>((time - past_.start_time) >> past_.bin_shift, kBins - 1));
}

// The last bin was not over.
PastEvents::Span PastEvents::SpanOf(uint32_t bin) const {
  const uint64_t begin = past_.start_time + (uint64_t{bin} << past_.bin_shift);
  const uint64_t end = begin + (uint64_t{1} << past_.bin_shift);
  return {begin, std::max(begin + 1, std::min(end, past_.last_time + 1))};
}

void PastEvents::AddBirths(uint32_t index) {
  const Checkpoint::Fold& fold = past_.folds[index];
  Span span = SpanOf(fold.birth);
  if (fold.death != fold.birth) {
    // Nobody became older than `age`, so those that saw the bin of their death were born late in this one.
    const uint64_t death = SpanOf(fold.death).begin;
    if (death > fold.age && death - fold.age > span.begin) span.begin = std::min(death - fold.age, span.end - 1);
  }
  AddFold(index, span, /*births=*/true);
}

void PastEvents::AddDeaths(uint32_t index) {
  const Checkpoint::Fold& fold = past_.folds[index];
  Span span = SpanOf(fold.death);
  const uint64_t youngest = SpanOf(fold.birth).end;
  if (youngest + fold.age < span.end) span.end = std::max(youngest + fold.age, span.begin + 1);
  AddFold(index, span, /*births=*/false);
}

void PastEvents::AddFold(uint32_t index, Span span, bool births) {
  const Checkpoint::Fold& fold = past_.folds[index];
  const bool dies_here = fold.death == fold.birth;
  const uint32_t birth_shape = first_site_shape_ + 2 * fold.site, death_shape = birth_shape + 1;
  const uint64_t parts = std::min(fold.count, kSpread);
  for (uint64_t i = 0; i < parts; ++i) {
    StreamEvent event =
        EventOf(births ? birth_shape : death_shape, PlaceIn(span.begin, span.end, i, parts), kFirstSlot);
    event.ordinal = dies_here ? 0 : 1 + index * kSpread + i;
    event.value[0] = ShareOf(fold.count, i, parts);
    event.value[1] = ShareOf(fold.bytes, i, parts);
    event.value[2] = fold.age;
    bin_events_.push_back(event);
    if (!dies_here) continue;
    event.operation = schema::FOLD_FREE;
    event.shape = &shapes_[death_shape];
    bin_events_.push_back(event);
  }
}

void PastEvents::AddSeveral(const Several& several) {
  const CheckpointRecord& record = *several.record;
  const ThreadSlot slot = trace_.SlotOf(static_cast<uint32_t>(record.thread));
  if (slot.is_none()) return;
  const bool is_mark = record.operation == schema::MARK;
  const uint64_t count = std::min(record.count, steps_left_);
  steps_left_ -= count;
  const uint64_t numbers = record.value > record.first ? record.value - record.first : 0;
  for (uint64_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    StreamEvent event = EventOf(several.shape, Between(record.first_time, record.time, i, count), slot);
    // Steps are usually counted one by one.
    const uint64_t number = last                   ? record.value
                            : is_mark              ? record.first
                            : numbers == count - 1 ? record.first + i
                                                   : Between(record.first, record.value, i, count);
    event.value[0] = is_mark ? record.name : number;
    event.value[1] = is_mark ? number : last ? record.second : 0;
    bin_events_.push_back(event);
  }
}

void PastEvents::FillBin(uint32_t bin) {
  bin_events_.clear();
  next_ = 0;
  for (; next_live_ < live_order_.size(); ++next_live_) {
    const Checkpoint::Live& live = past_.live[live_order_[next_live_]];
    if (BinOf(live.time) > bin) break;
    const ThreadSlot slot = trace_.SlotOf(live.thread);
    StreamEvent event = EventOf(live.shape, live.time, slot);
    event.ordinal = live.ordinal;
    event.address = live.address;
    bin_events_.push_back(event);
  }
  for (; next_single_ < singles_.size() && BinOf(singles_[next_single_].time) <= bin; ++next_single_) {
    bin_events_.push_back(singles_[next_single_]);
  }
  for (const uint32_t index : deaths_[bin]) AddDeaths(index);
  for (const uint32_t index : births_[bin]) AddBirths(index);
  for (const Several& several : several_[bin]) AddSeveral(several);
  std::stable_sort(bin_events_.begin(), bin_events_.end(),
                   [](const StreamEvent& a, const StreamEvent& b) { return a.time < b.time; });
  for (StreamEvent& event : bin_events_) {
    // Times do not run backwards, whatever a damaged checkpoint says.
    event.time = last_time_ = std::max(last_time_, event.time);
    event.note = &notes_[static_cast<size_t>(event.shape - shapes_.data())];
  }
}

bool PastEvents::Ready() {
  while (next_ == bin_events_.size()) {
    if (next_bin_ == kBins) return false;
    FillBin(next_bin_++);
  }
  return true;
}

void PastEvents::Pop() {
  if (bin_events_[next_].operation == schema::ALLOCATE) ++live_delivered_;
  ++next_;
}

bool PastEvents::Undelivered(ThreadSlot slot, uint64_t ordinal, uint64_t* rank) const {
  const auto found = live_ranks_.find({slot, ordinal});
  if (found == live_ranks_.end() || found->second < live_delivered_) return false;
  *rank = found->second;
  return true;
}

}  // namespace vramtrack
