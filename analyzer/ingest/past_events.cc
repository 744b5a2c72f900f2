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
    : trace_(trace), past_(*trace.past()), births_(kBins), deaths_(kBins), steps_(kBins), marks_(kBins) {
  shapes_.reserve(past_.shapes.size() + 2 * past_.sites.size() + past_.kept_failures.size() + past_.memory.size() +
                  past_.early_frees.size() + past_.resets.size() + past_.settings.size() +
                  past_.framework_memory.size() + past_.marks.size() + 1);
  for (const Checkpoint::Shape& shape : past_.shapes) {
    const Checkpoint::Site& site = past_.sites[shape.site];
    AddShape(schema::ALLOCATE, site.kind, site.device, site.stack, shape.bytes, shape.stream);
  }
  first_site_shape_ = static_cast<uint32_t>(shapes_.size());
  for (const Checkpoint::Site& site : past_.sites) {
    AddShape(schema::FOLD_ALLOCATE, site.kind, site.device, site.stack, 0, 0);
    AddShape(schema::FOLD_FREE, site.kind, site.device, site.stack, 0, 0);
  }
  step_shape_ = AddShape(schema::STEP, 0, 0, 0, 0, 0);
  for (uint32_t i = 0; i < past_.folds.size(); ++i) {
    const Checkpoint::Fold& fold = past_.folds[i];
    births_[fold.birth].push_back(i);
    if (fold.death != fold.birth) deaths_[fold.death].push_back(i);
  }
  first_mark_shape_ = static_cast<uint32_t>(shapes_.size());
  for (uint32_t i = 0; i < past_.marks.size(); ++i) {
    AddShape(schema::MARK, past_.marks[i].kind, 0, past_.marks[i].stack, 0, 0);
    marks_[BinOf(past_.marks[i].first_time)].push_back(i);
  }
  for (uint32_t i = 0; i < past_.steps.size(); ++i) steps_[BinOf(past_.steps[i].first_time)].push_back(i);
  SortLive();
  AddSingles(undone);
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

void PastEvents::AddSingle(uint32_t shape, uint64_t time, ThreadSlot slot, uint64_t first, uint64_t second) {
  StreamEvent event = EventOf(shape, time, slot.is_none() ? kFirstSlot : slot);
  event.value[0] = first;
  event.value[1] = second;
  singles_.push_back(event);
}

void PastEvents::AddSingles(const std::vector<bool>& undone) {
  for (const Checkpoint::Memory& memory : past_.memory) {
    AddSingle(AddShape(schema::MEMORY_INFO, 0, memory.device, 0, 0, 0), memory.time, kFirstSlot, memory.free,
              memory.total);
  }
  for (const Checkpoint::FrameworkMemory& memory : past_.framework_memory) {
    AddSingle(AddShape(schema::FRAMEWORK_MEMORY, 0, memory.device, 0, 0, 0), memory.time, kFirstSlot, memory.given_out,
              memory.reserved);
  }
  for (const Checkpoint::Failure& failure : past_.kept_failures) {
    AddSingle(AddShape(schema::FAIL, failure.kind, failure.device, failure.stack, failure.bytes, 0), failure.time,
              trace_.SlotOf(failure.thread), failure.error);
  }
  for (const Checkpoint::Setting& setting : past_.settings) {
    if (setting.operation != schema::TRIM && setting.operation != schema::LIMIT) continue;
    AddSingle(AddShape(setting.operation, setting.kind, setting.device, setting.stack, 0, 0), setting.time,
              trace_.SlotOf(setting.thread), setting.first, setting.second);
  }
  for (const Checkpoint::Reset& reset : past_.resets) {
    latest_reset_ = std::max(latest_reset_, reset.time);
    AddSingle(AddShape(schema::DEVICE_RESET, 0, reset.device, 0, 0, 0), reset.time, kFirstSlot);
  }
  for (size_t i = 0; i < past_.early_frees.size(); ++i) {
    if (i >= undone.size() || !undone[i]) AddEarlyFree(past_.early_frees[i]);
  }
  std::stable_sort(singles_.begin(), singles_.end(),
                   [](const StreamEvent& a, const StreamEvent& b) { return a.time < b.time; });
}

void PastEvents::AddEarlyFree(const Checkpoint::EarlyFree& free) {
  const ThreadSlot owner = trace_.SlotOf(free.thread);
  const bool of_past = !owner.is_none() && free.ordinal < trace_.threads()[owner].past_allocations;
  if (of_past && EndedByReset(owner, free.ordinal, free.time)) return;
  uint64_t time = free.time;
  Checkpoint::Site site = {};  // unknown while its allocation is
  const auto rank = live_ranks_.find({owner, free.ordinal});
  if (rank != live_ranks_.end()) {
    const Checkpoint::Live& live = past_.live[live_order_[rank->second]];
    time = std::max(time, live.time);
    site = past_.sites[past_.shapes[live.shape].site];
  }
  AddSingle(AddShape(schema::FREE, site.kind, site.device, free.thread, 0, 0), time,
            free.last_of == 0 ? kFirstSlot : trace_.SlotOf(free.last_of - 1));
  singles_.back().owner = owner;
  singles_.back().ordinal = free.ordinal;
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

void PastEvents::AddSteps(const Checkpoint::Steps& steps) {
  const ThreadSlot slot = trace_.SlotOf(steps.thread);
  if (slot.is_none()) return;
  const uint64_t count = std::min(steps.count, steps_left_);
  steps_left_ -= count;
  const uint64_t numbers = steps.last_number > steps.first_number ? steps.last_number - steps.first_number : 0;
  for (uint64_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    StreamEvent event = EventOf(step_shape_, Between(steps.first_time, steps.last_time, i, count), slot);
    // Usually the job counts them one by one.
    event.value[0] = numbers == count - 1 ? steps.first_number + i
                     : last               ? steps.last_number
                                          : Between(steps.first_number, steps.last_number, i, count);
    event.value[1] = last ? steps.last_value : 0;
    bin_events_.push_back(event);
  }
}

void PastEvents::AddMarks(uint32_t index) {
  const Checkpoint::Marks& marks = past_.marks[index];
  const ThreadSlot slot = trace_.SlotOf(marks.thread);
  if (slot.is_none()) return;
  const uint64_t count = std::min(marks.count, steps_left_);
  steps_left_ -= count;
  for (uint64_t i = 0; i < count; ++i) {
    StreamEvent event = EventOf(first_mark_shape_ + index, Between(marks.first_time, marks.last_time, i, count), slot);
    event.value[0] = marks.name;
    event.value[1] = i + 1 == count ? marks.last_number : marks.first_number;
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
  for (const uint32_t index : steps_[bin]) AddSteps(past_.steps[index]);
  for (const uint32_t index : marks_[bin]) AddMarks(index);
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
