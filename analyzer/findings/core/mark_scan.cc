// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/mark_scan.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "analyzer/ingest/past_events.h"

namespace vramtrack {
namespace {

constexpr char kOptimizerStep[] = "Optimizer.step#";

// So many events are decoded for the clock; of more, blocks without marks are decoded now and then only.
constexpr uint64_t kDecodedEvents = 4u << 20;
// An object that lived while its thread allocated about this share of all it ever did has not gone soon.
constexpr uint64_t kShortLivedShare = 8;
// An object that goes while so few others come lives shortly in any run.
constexpr uint64_t kAlwaysShortLived = 16;

bool IsHexWord(std::string_view word) {
  bool digit = false;
  for (const char c : word) {
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return false;
    digit |= std::isdigit(static_cast<unsigned char>(c)) != 0;
  }
  return digit && word.size() >= 6;
}

// The smallest power of two that is not less. What depends on the length of the trace changes only when it doubles, so
// that a scan rarely has to begin anew.
uint64_t PowerOfTwoFrom(uint64_t least) {
  uint64_t power = 1;
  while (power < least) power <<= 1;
  return power;
}

// Whether no later reading of the trace changes this block of a thread: it is not the newest, and all of it counts.
bool IsSettled(const std::vector<BlockRef>& blocks, size_t index, uint64_t read_until) {
  return index + 1 < blocks.size() && !blocks[index].from_journal && blocks[index + 1].first_time <= read_until;
}

}  // namespace

uint64_t MarkScan::EventsPerSample(const Trace& trace) { return PowerOfTwoFrom(trace.events() / kMostSamples + 1); }

uint64_t MarkScan::BlocksPerDecoded(const Trace& trace) { return PowerOfTwoFrom(trace.events() / kDecodedEvents + 1); }

uint64_t MarkScan::Soon(const std::vector<BlockRef>& blocks) {
  if (blocks.empty()) return kAlwaysShortLived;
  const uint64_t allocations = blocks.back().first_allocation + blocks.back().event_count / 2;
  return std::max(kAlwaysShortLived, PowerOfTwoFrom(allocations) / kShortLivedShare);
}

MarkScan::MarkScan(const Trace& trace)
    : trace_(&trace),
      events_per_sample_(EventsPerSample(trace)),
      blocks_per_decoded_(BlocksPerDecoded(trace)),
      slots_(trace.threads().size()) {
  for (const ThreadSlot slot : slots_.indices()) slots_[slot].soon = Soon(trace.threads()[slot].blocks);
}

bool MarkScan::CanGoOn(const Trace& trace) const {
  if (depends_on_order_ || trace.past() != nullptr || trace.threads().size() != slots_.size()) return false;
  if (EventsPerSample(trace) != events_per_sample_ || BlocksPerDecoded(trace) != blocks_per_decoded_) return false;
  for (const ThreadSlot slot : slots_.indices()) {
    const std::vector<BlockRef>& blocks = trace.threads()[slot].blocks;
    const SlotState& state = slots_[slot];
    if (state.next_block >= blocks.size() || blocks[state.next_block].first_sequence != state.next_sequence) {
      return false;
    }
    if (Soon(blocks) != state.soon) return false;
  }
  return true;
}

size_t MarkScan::blocks_read() const {
  size_t count = 0;
  for (const SlotState& state : slots_) count += state.next_block;
  return count;
}

void MarkScan::Read(const Trace& trace, const OptimizerStacks& optimizers, bool settled) {
  trace_ = &trace;
  optimizers_ = &optimizers;
  if (trace.past() != nullptr && !past_read_ && !settled) ReadPast();
  for (const ThreadSlot slot : slots_.indices()) ReadThread(slot, settled);
  optimizers_ = nullptr;
}

// The order of a thread's marks is that in which a replay delivers them. Of allocations and frees a checkpoint knows no
// more than their bin, so a bin is one sample of the clock.
void MarkScan::ReadPast() {
  past_read_ = true;
  const TracedStacks& stacks = trace_->definitions().stacks;
  uint64_t bin = 0, last = 0;
  double work = 0, events = 0;
  const auto end_bin = [&] {
    if (events > 0) past_clock_.Add(last, work, events, /*spread=*/true);
    work = events = 0;
  };
  PastEvents past(*trace_, {});
  for (; past.Ready(); past.Pop()) {
    const StreamEvent& event = past.front();
    SlotState& state = slots_[slots_.Has(event.slot) ? event.slot : ThreadSlot(0)];
    switch (event.operation) {
      case schema::STEP:
        // Numbers of the past are spread evenly between the first and the last one: they tell no steps apart.
        OnStep(event.time, 0, event.slot, &state);
        continue;
      case schema::MARK:
        OnMark(event.time, event.shape->kind, stacks.Distinct(event.shape->ref), static_cast<uint32_t>(event.value[0]),
               0, event.slot, &state);
        continue;
      case schema::FOLD_FREE:
      case schema::ALLOCATE:
      case schema::FOLD_ALLOCATE:
        break;
      default:
        continue;
    }
    const uint64_t bin_of_event =
        (event.time - std::min(event.time, trace_->past()->start_time)) >> trace_->past()->bin_shift;
    if (bin_of_event != bin) end_bin();
    bin = bin_of_event;
    last = event.time;
    const double count = event.operation == schema::ALLOCATE ? 1 : static_cast<double>(event.value[0]);
    events += count;
    if (event.operation == schema::FOLD_FREE) {
      work += count;
    } else {
      past_clock_.AllocatedAt(event.time);
    }
  }
  end_bin();
}

void MarkScan::ReadThread(ThreadSlot slot, bool settled) {
  const std::vector<BlockRef>& blocks = trace_->threads()[slot].blocks;
  SlotState& state = slots_[slot];
  ReleaseBehind release(*trace_);
  for (; state.next_block < blocks.size(); ++state.next_block) {
    const size_t index = state.next_block;
    if (blocks[index].first_time > trace_->read_until()) break;
    if (settled && !IsSettled(blocks, index, trace_->read_until())) break;
    release.Passed(blocks[index].offset);
    ReadBlock(blocks, index, slot, &state);
  }
  if (state.next_block < blocks.size()) state.next_sequence = blocks[state.next_block].first_sequence;
}

void MarkScan::ReadBlock(const std::vector<BlockRef>& blocks, size_t index, ThreadSlot slot, SlotState* state) {
  BlockDecoder decoder;
  if (!decoder.Open(blocks[index].payload)) return;
  const TracedStacks& stacks = trace_->definitions().stacks;
  const std::vector<DecodedShape>& shapes = decoder.shapes();
  std::vector<StackIndex> distinct(shapes.size(), kEmptyStack);
  bool marks = false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const uint32_t operation = shapes[i].operation;
    marks |= operation == schema::MARK || operation == schema::STEP;
    if (operation != schema::MARK && operation != schema::ALLOCATE) continue;
    depends_on_order_ |= shapes[i].ref != 0 && !stacks.Defined(shapes[i].ref);
    distinct[i] = stacks.Distinct(shapes[i].ref);
    marks |= optimizers_->IsInside(distinct[i]) || optimizers_->CellOf(distinct[i]) != 0;
  }
  if (!marks && index % blocks_per_decoded_ != 0) {
    CountBlock(blocks, index, state);
  } else {
    ReadEvents(&decoder, distinct, slot, state);
  }
}

// It was as busy as the block before it, evenly over its time.
void MarkScan::CountBlock(const std::vector<BlockRef>& blocks, size_t index, SlotState* state) const {
  const BlockRef& block = blocks[index];
  const uint64_t next = index + 1 < blocks.size() ? blocks[index + 1].first_time : block.first_time;
  const uint64_t parts = block.event_count / events_per_sample_ + 1;
  for (uint64_t i = 0; i < parts; ++i) {
    const uint64_t time = block.first_time + (next > block.first_time ? (next - block.first_time) / parts * i : 0);
    const double events = static_cast<double>(block.event_count) / static_cast<double>(parts);
    state->samples.push_back({time, state->work_per_event * events, events});
  }
  state->last_allocation = std::max(state->last_allocation, block.first_time);
  state->inside = false;
  state->worked = true;
}

void MarkScan::ReadEvents(BlockDecoder* decoder, const std::vector<StackIndex>& distinct, ThreadSlot slot,
                          SlotState* state) {
  const DecodedShape* const shapes = decoder->shapes().data();
  uint64_t ordinal = decoder->header().first_allocation;
  uint64_t events = 0;
  double work = 0;
  for (DecodedEvent event; decoder->Next(&event) && event.time <= trace_->read_until();) {
    const StackIndex stack = distinct[static_cast<size_t>(event.shape - shapes)];
    double gone = 0;
    switch (event.shape->operation) {
      case schema::ALLOCATE: {
        ++ordinal;
        const bool inside = optimizers_->IsInside(stack);
        if (inside && !state->inside) Note(event.time, &optimizer_entries_);
        state->inside = inside;
        if (const uint32_t cell = optimizers_->CellOf(stack); cell != 0 && cell != state->cell) {
          state->cell = cell;
          Note(event.time, &cell_entries_);
        }
        state->worked |= !inside || optimizers_->IsInClosure(stack);
        state->last_allocation = std::max(state->last_allocation, event.time);
        break;
      }
      case schema::FREE:
        // How long another thread's objects lived is not known here.
        gone = event.shape->ref != decoder->header().thread || ordinal - event.ordinal <= state->soon ? 1 : 0;
        break;
      case schema::STEP:
        OnStep(event.time, static_cast<uint32_t>(event.value[0] % UINT32_MAX + 1), slot, state);
        break;
      case schema::MARK:
        OnMark(event.time, event.shape->kind, stack, static_cast<uint32_t>(event.value[0]), event.value[1], slot,
               state);
        break;
      default:
        break;
    }
    ++events;
    work += gone;
    Count(event.time, gone, state);
  }
  if (events > 0) state->work_per_event = work / static_cast<double>(events);
}

void MarkScan::Note(uint64_t time, std::vector<uint64_t>* entries) {
  depends_on_order_ |= entries->size() >= kMostMarksOfName;
  if (entries->size() < kMostMarksOfName) entries->push_back(time);
}

void MarkScan::Count(uint64_t time, double work, SlotState* state) const {
  state->work_in_sample += work;
  if (++state->events_in_sample < events_per_sample_) return;
  state->samples.push_back({time, state->work_in_sample, static_cast<double>(state->events_in_sample)});
  state->work_in_sample = 0;
  state->events_in_sample = 0;
}

RunClock MarkScan::Clock() const {
  RunClock clock = past_clock_;
  for (const SlotState& state : slots_) {
    for (const Sample& sample : state.samples) clock.Add(sample.time, sample.work, sample.events);
    clock.AllocatedAt(state.last_allocation);
  }
  clock.Finish();
  return clock;
}

std::map<MarkScan::GroupKey, MarkScan::Group> MarkScan::TakeGroups() {
  std::map<GroupKey, Group> groups;
  for (const auto& [key, index] : group_of_key_) {
    Group& group = groups[key] = std::move(groups_[index]);
    // A scan that went on has read the threads in turn. Marks of the past come first in any case.
    if (!past_read_) {
      std::stable_sort(group.marks.begin(), group.marks.end(),
                       [](const Mark& a, const Mark& b) { return a.slot < b.slot; });
    }
  }
  return groups;
}

namespace {

std::vector<uint64_t> Sorted(std::vector<uint64_t> times) {
  std::sort(times.begin(), times.end());
  return times;
}

}  // namespace

std::vector<uint64_t> MarkScan::OptimizerEntries() const { return Sorted(optimizer_entries_); }

std::vector<uint64_t> MarkScan::CellEntries() const { return Sorted(cell_entries_); }

std::string MarkScan::WithoutNumbers(std::string_view name) {
  std::string normal;
  for (size_t i = 0; i < name.size();) {
    if (std::isalnum(static_cast<unsigned char>(name[i])) == 0) {
      normal += name[i++];
      continue;
    }
    size_t end = i;
    while (end < name.size() && std::isalnum(static_cast<unsigned char>(name[end])) != 0) ++end;
    if (IsHexWord(name.substr(i, end - i))) {
      normal += '#';
      i = end;
      continue;
    }
    for (; i < end; ++i) {
      if (std::isdigit(static_cast<unsigned char>(name[i])) == 0) {
        normal += name[i];
        continue;
      }
      // With its fraction: "0.25" is one number.
      while (i + 1 < name.size() && (std::isdigit(static_cast<unsigned char>(name[i + 1])) != 0 ||
                                     (name[i + 1] == '.' && i + 2 < name.size() &&
                                      std::isdigit(static_cast<unsigned char>(name[i + 2])) != 0))) {
        ++i;
      }
      normal += '#';
      end = std::max(end, i + 1);
    }
  }
  return normal;
}

const std::string& MarkScan::TextOf(uint32_t name) {
  static const std::string kNone;
  const auto defined = trace_->definitions().names.find(name);
  if (defined != trace_->definitions().names.end()) return defined->second;
  depends_on_order_ |= name != 0;
  return kNone;
}

MarkScan::GroupIndex MarkScan::IndexOf(const GroupKey& key) {
  const auto [found, is_new] = group_of_key_.try_emplace(key, static_cast<GroupIndex>(groups_.size()));
  if (is_new) groups_.emplace_back();
  return found->second;
}

MarkScan::GroupIndex MarkScan::GroupOfName(Source source, uint32_t name) {
  const auto [found, is_new] = group_of_name_.try_emplace({static_cast<uint32_t>(source), name}, kNoGroup);
  if (is_new) found->second = IndexOf({source, WithoutNumbers(TextOf(name)), 0});
  return found->second;
}

size_t MarkScan::Keep(GroupIndex index, const Mark& mark) {
  Group& group = groups_[index];
  if (group.too_many) return SIZE_MAX;
  if (group.marks.size() >= kMostMarksOfName || kept_ >= kMostMarks) {
    // Its open ranges find nothing of theirs any more.
    group.too_many = depends_on_order_ = true;
    kept_ -= std::min(kept_, group.marks.size());
    group.marks = {};
    return SIZE_MAX;
  }
  group.marks.push_back(mark);
  ++kept_;
  return group.marks.size() - 1;
}

void MarkScan::OnStep(uint64_t time, uint32_t identity, ThreadSlot slot, SlotState* state) {
  Keep(IndexOf({Source::kStepCall, "", 0}), {time, time, state->marks++, slot, identity});
}

uint32_t MarkScan::DomainOf(uint32_t name) const {
  const auto found = trace_->definitions().domains.find(name);
  return found == trace_->definitions().domains.end() ? 0 : found->second;
}

// Ranges that never end, and ends of nothing, do not fill the memory: they are as many as marks that are kept at most.
void MarkScan::OnRangeStart(const Mark& mark, uint64_t number) {
  const GroupIndex group = GroupOfName(Source::kRange, mark.identity);
  const size_t kept = Keep(group, mark);
  if (kept == SIZE_MAX || number == 0) return;
  const auto end = ended_.find(number);
  if (end == ended_.end()) {
    started_[number] = {group, kept};
    return;
  }
  groups_[group].marks[kept].end = std::max(mark.time, end->second);
  ended_.erase(end);
}

void MarkScan::OnRangeEnd(uint64_t time, uint64_t number) {
  if (number == 0) return;
  const auto start = started_.find(number);
  if (start == started_.end()) {
    depends_on_order_ |= ended_.size() >= kMostMarks;
    if (ended_.size() < kMostMarks) ended_[number] = time;
    return;
  }
  const OpenRange& open = start->second;
  std::vector<Mark>& marks = groups_[open.group].marks;
  if (open.mark < marks.size()) marks[open.mark].end = std::max(marks[open.mark].time, time);
  started_.erase(start);
}

void MarkScan::OnMark(uint64_t time, uint32_t kind, StackIndex stack, uint32_t name, uint64_t number, ThreadSlot slot,
                      SlotState* state) {
  const uint64_t ordinal = state->marks++;
  const Mark mark = {time, time, ordinal, slot, name};
  if (kind == schema::MARK_RANGE_POP) {
    // The innermost one of its domain.
    const auto found = std::find_if(state->open.rbegin(), state->open.rend(),
                                    [&](const OpenRange& open) { return open.domain == DomainOf(name); });
    if (found == state->open.rend()) return;
    const OpenRange open = *found;
    state->open.erase(std::next(found).base());
    if (open.group != kNoGroup && open.mark < groups_[open.group].marks.size()) {
      groups_[open.group].marks[open.mark].end = time;
    }
    return;
  }
  if (kind == schema::MARK_RECORD_FUNCTION) {
    const std::string& text = TextOf(name);
    const bool inside = optimizers_->IsInside(stack);
    if (!text.empty() ? text.rfind(kOptimizerStep, 0) == 0 : inside && !optimizers_->IsInClosure(stack)) {
      // Without Python frames all calls of one optimizer are one place.
      Mark step = mark;
      step.identity = 0;
      step.idle = !state->worked;
      state->worked = false;
      const uint64_t call = inside ? optimizers_->CallOf(stack) : uint64_t{1} << 63 | stack.value();
      const GroupIndex index = IndexOf({Source::kOptimizer, "", call});
      groups_[index].in_backward |= trace_->definitions().stacks.Get(stack).node != 0;
      groups_[index].idle += step.idle;
      Keep(index, step);
      return;
    }
    // What an optimizer calls within its step is not one of the job's loops.
    if (inside) return;
    Keep(GroupOfName(Source::kName, name), mark);
    return;
  }
  if (kind == schema::MARK_RANGE_PUSH) {
    const GroupIndex group = GroupOfName(Source::kRange, name);
    const size_t kept = Keep(group, mark);
    // Ranges that never end do not fill the memory.
    constexpr size_t kDeepest = 4096;
    if (state->open.size() < kDeepest) {
      state->open.push_back({kept == SIZE_MAX ? kNoGroup : group, kept, DomainOf(name)});
    }
  } else if (kind == schema::MARK_RANGE_START) {
    OnRangeStart(mark, number);
  } else if (kind == schema::MARK_RANGE_END) {
    OnRangeEnd(time, number);
  } else if (kind == schema::MARK_INSTANT) {
    Keep(GroupOfName(Source::kName, name), mark);
  }
}

}  // namespace vramtrack
