// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/step_candidates.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

#include "analyzer/attribution/python_file.h"
#include "analyzer/ingest/past_events.h"
#include "analyzer/symbols/affix.h"
#include "proto/block_decoder.h"

namespace vramtrack {
namespace {

constexpr char kOptimizerStep[] = "Optimizer.step#";

// So many events are decoded for the clock; of more, blocks without marks are decoded now and then only.
constexpr uint64_t kDecodedEvents = 4u << 20;
// An object that lived while its thread allocated this share of all it ever did has not gone soon.
constexpr uint64_t kShortLivedShare = 8;
// An object that goes while so few others come lives shortly in any run.
constexpr uint64_t kAlwaysShortLived = 16;
// If numbers of one thread's marks come again in another one, in this share of them, both count the same steps.
constexpr double kSameNumbers = 0.25;
// A range that holds this much of what happens from its first to its last one is a loop's whole body; one that holds
// less than the other is a part of it.
constexpr double kHoldsAll = 0.8, kHoldsHalf = 0.5;
// Marks are in bursts if the distances within one are so many times shorter than those between them.
constexpr double kBurstRatio = 4;
constexpr size_t kMinBursts = 4;
// How much of what happens may lie within the bursts: calls in turn have nothing between them, few calls (a closure,
// two optimizers) may have some, and those of hooks have the backward pass between them.
constexpr double kMostOfCallsInTurn = 0.1, kMostOfFewCalls = 0.5, kMostInBackward = 0.8;
constexpr size_t kFewCalls = 4;
// This share of an optimizer's steps follows the one before at once: several are called in turn.
constexpr size_t kIdleShare = 4;
// Names occur as often as a loop of the stream if their numbers differ by this share at most.
constexpr double kSameCount = 0.05;

bool IsHexWord(std::string_view word) {
  bool digit = false;
  for (const char c : word) {
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) return false;
    digit |= std::isdigit(static_cast<unsigned char>(c)) != 0;
  }
  return digit && word.size() >= 6;
}

// XLA pushes ranges while it compiles, and one for each kernel and CUDA graph that a function runs. Functions share
// these names.
bool IsInsideXla(std::string_view name) { return StartsWith(name, "TSL:Xla") || StartsWith(name, "TSL:Thunk:"); }

}  // namespace

StepCandidates::StepCandidates(const Trace& trace) : trace_(trace), slots_(trace.threads().size()) {
  FindOptimizers();
  events_per_sample_ = trace.events() / kMostSamples + 1;
  blocks_per_decoded_ = trace.events() / kDecodedEvents + 1;
  if (trace.past() != nullptr) ReadPast();
  for (const ThreadSlot slot : slots_.indices()) ReadThread(slot);
  clock_.Finish();
  std::sort(optimizer_entries_.begin(), optimizer_entries_.end());
  MakeCandidates();
}

void StepCandidates::FindOptimizers() {
  const Definitions& definitions = trace_.definitions();
  const size_t count = definitions.stacks.distinct_count();
  in_optimizer_.resize(count);
  optimizer_call_.resize(count);
  in_closure_.resize(count);
  for (const StackIndex i : definitions.stacks.distinct()) {
    const PythonStackRef python = definitions.stacks.Get(i).python;
    size_t outside = 0;
    for (size_t frame = 0; frame < python.count; ++frame) {
      const TracedCode& code = definitions.codes.Get(python.frames[frame].code);
      const std::string_view name = code.name;
      if (IsOptimizerFrame(code.file, UnqualifiedName(name))) in_optimizer_[i] = true;
      if (IsOptimizerFile(code.file)) {
        outside = frame + 1;
      } else if (!in_optimizer_[i] && !IsPythonLibrary(code.file)) {
        // The closure may call the optimizer again: Lightning's calls zero_grad(), which leaves a mark of its own.
        in_closure_[i] = true;
      }
    }
    if (!in_optimizer_[i]) continue;
    uint64_t call = 1;
    for (size_t frame = outside; frame < python.count; ++frame) {
      call = (call ^ (uint64_t{python.frames[frame].code} << 32 | python.frames[frame].line)) * 0x9e3779b97f4a7c15;
      call ^= call >> 29;
    }
    optimizer_call_[i] = std::max<uint64_t>(call, 1);
  }
}

void StepCandidates::Count(uint64_t time, double work, uint64_t events, SlotState* state) {
  state->work_in_sample += work;
  state->events_in_sample += events;
  if (state->events_in_sample < events_per_sample_) return;
  clock_.Add(time, state->work_in_sample, static_cast<double>(state->events_in_sample));
  state->work_in_sample = 0;
  state->events_in_sample = 0;
}

// The order of a thread's marks is that in which a replay delivers them. Of allocations and frees a checkpoint knows no
// more than their bin, so a bin is one sample of the clock.
void StepCandidates::ReadPast() {
  const TracedStacks& stacks = trace_.definitions().stacks;
  uint64_t bin = 0, last = 0;
  double work = 0, events = 0;
  const auto end_bin = [&] {
    if (events > 0) clock_.Add(last, work, events, /*spread=*/true);
    work = events = 0;
  };
  PastEvents past(trace_, {});
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
        (event.time - std::min(event.time, trace_.past()->start_time)) >> trace_.past()->bin_shift;
    if (bin_of_event != bin) end_bin();
    bin = bin_of_event;
    last = event.time;
    const double count = event.operation == schema::ALLOCATE ? 1 : static_cast<double>(event.value[0]);
    events += count;
    if (event.operation == schema::FOLD_FREE) {
      work += count;
    } else {
      clock_.AllocatedAt(event.time);
    }
  }
  end_bin();
}

void StepCandidates::ReadThread(ThreadSlot slot) {
  const TracedStacks& stacks = trace_.definitions().stacks;
  const std::vector<BlockRef>& blocks = trace_.threads()[slot].blocks;
  SlotState& state = slots_[slot];
  if (blocks.empty()) return;
  const uint64_t allocations = blocks.back().first_allocation + blocks.back().event_count / 2;
  const uint64_t soon = std::max(kAlwaysShortLived, allocations / kShortLivedShare);
  double work_per_event = 0.5;
  ReleaseBehind release(trace_);
  for (size_t index = 0; index < blocks.size(); ++index) {
    const BlockRef& block = blocks[index];
    if (block.first_time > trace_.read_until()) break;
    release.Passed(block.offset);
    BlockDecoder decoder;
    if (!decoder.Open(block.payload)) continue;
    const std::vector<DecodedShape>& shapes = decoder.shapes();
    std::vector<StackIndex> distinct(shapes.size(), kEmptyStack);
    bool marks = false;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const uint32_t operation = shapes[i].operation;
      marks |= operation == schema::MARK || operation == schema::STEP;
      if (operation != schema::MARK && operation != schema::ALLOCATE) continue;
      distinct[i] = stacks.Distinct(shapes[i].ref);
      marks |= in_optimizer_[distinct[i]];
    }
    if (!marks && index % blocks_per_decoded_ != 0) {
      // As busy as the block before it, evenly over its time.
      const uint64_t next = index + 1 < blocks.size() ? blocks[index + 1].first_time : block.first_time;
      const uint64_t parts = block.event_count / events_per_sample_ + 1;
      for (uint64_t i = 0; i < parts; ++i) {
        const uint64_t time = block.first_time + (next > block.first_time ? (next - block.first_time) / parts * i : 0);
        const double events = static_cast<double>(block.event_count) / static_cast<double>(parts);
        clock_.Add(time, work_per_event * events, events);
      }
      clock_.AllocatedAt(block.first_time);
      state.inside = false;
      state.worked = true;
      continue;
    }
    uint64_t ordinal = decoder.header().first_allocation;
    uint64_t events = 0;
    double work = 0;
    for (DecodedEvent event; decoder.Next(&event) && event.time <= trace_.read_until();) {
      double gone = 0;
      switch (event.shape->operation) {
        case schema::ALLOCATE: {
          ++ordinal;
          const bool inside = in_optimizer_[distinct[static_cast<size_t>(event.shape - shapes.data())]];
          if (inside && !state.inside && optimizer_entries_.size() < kMostMarksOfName) {
            optimizer_entries_.push_back(event.time);
          }
          state.inside = inside;
          state.worked |= !inside || in_closure_[distinct[static_cast<size_t>(event.shape - shapes.data())]];
          clock_.AllocatedAt(event.time);
          break;
        }
        case schema::FREE:
          // How long another thread's objects lived is not known here.
          gone = event.shape->ref != decoder.header().thread || ordinal - event.ordinal <= soon ? 1 : 0;
          break;
        case schema::STEP:
          OnStep(event.time, static_cast<uint32_t>(event.value[0] % UINT32_MAX + 1), slot, &state);
          break;
        case schema::MARK:
          OnMark(event.time, event.shape->kind, distinct[static_cast<size_t>(event.shape - shapes.data())],
                 static_cast<uint32_t>(event.value[0]), event.value[1], slot, &state);
          break;
        default:
          break;
      }
      ++events;
      work += gone;
      Count(event.time, gone, 1, &state);
    }
    if (events > 0) work_per_event = work / static_cast<double>(events);
  }
}

std::string StepCandidates::WithoutNumbers(std::string_view name) {
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

StepCandidates::Group* StepCandidates::GroupOfName(Source source, uint32_t name) {
  const auto [found, is_new] = group_of_name_.try_emplace({static_cast<uint32_t>(source), name}, nullptr);
  if (is_new) {
    const auto defined = trace_.definitions().names.find(name);
    const std::string text = defined == trace_.definitions().names.end() ? "" : defined->second;
    found->second = &groups_[{source, WithoutNumbers(text), 0}];
  }
  return found->second;
}

StepCandidates::Group* StepCandidates::GroupOfOptimizer(uint64_t call) {
  return &groups_[{Source::kOptimizer, "", call}];
}

size_t StepCandidates::Keep(Group* group, const Mark& mark) {
  if (group->too_many) return SIZE_MAX;
  if (group->marks.size() >= kMostMarksOfName || kept_ >= kMostMarks) {
    // Its open ranges find nothing of theirs any more.
    group->too_many = true;
    kept_ -= std::min(kept_, group->marks.size());
    group->marks = {};
    return SIZE_MAX;
  }
  group->marks.push_back(mark);
  ++kept_;
  return group->marks.size() - 1;
}

void StepCandidates::OnStep(uint64_t time, uint32_t identity, ThreadSlot slot, SlotState* state) {
  Keep(&groups_[{Source::kStepCall, "", 0}], {time, time, state->marks++, slot, identity});
}

uint32_t StepCandidates::DomainOf(uint32_t name) const {
  const auto found = trace_.definitions().domains.find(name);
  return found == trace_.definitions().domains.end() ? 0 : found->second;
}

// Ranges that never end, and ends of nothing, do not fill the memory: they are as many as marks that are kept at most.
void StepCandidates::OnRangeStart(const Mark& mark, uint64_t number) {
  Group* group = GroupOfName(Source::kRange, mark.identity);
  const size_t kept = Keep(group, mark);
  if (kept == SIZE_MAX || number == 0) return;
  const auto end = ended_.find(number);
  if (end == ended_.end()) {
    started_[number] = {group, kept};
    return;
  }
  group->marks[kept].end = std::max(mark.time, end->second);
  ended_.erase(end);
}

void StepCandidates::OnRangeEnd(uint64_t time, uint64_t number) {
  if (number == 0) return;
  const auto start = started_.find(number);
  if (start == started_.end()) {
    if (ended_.size() < kMostMarks) ended_[number] = time;
    return;
  }
  const OpenRange& open = start->second;
  if (open.mark < open.group->marks.size()) {
    Mark& mark = open.group->marks[open.mark];
    mark.end = std::max(mark.time, time);
  }
  started_.erase(start);
}

void StepCandidates::OnMark(uint64_t time, uint32_t kind, StackIndex stack, uint32_t name, uint64_t number,
                            ThreadSlot slot, SlotState* state) {
  const uint64_t ordinal = state->marks++;
  const Mark mark = {time, time, ordinal, slot, name};
  if (kind == schema::MARK_RANGE_POP) {
    // The innermost one of its domain.
    const auto found = std::find_if(state->open.rbegin(), state->open.rend(),
                                    [&](const OpenRange& open) { return open.domain == DomainOf(name); });
    if (found == state->open.rend()) return;
    const OpenRange open = *found;
    state->open.erase(std::next(found).base());
    if (open.group != nullptr && open.mark < open.group->marks.size()) open.group->marks[open.mark].end = time;
    return;
  }
  if (kind == schema::MARK_RECORD_FUNCTION) {
    const auto defined = trace_.definitions().names.find(name);
    const bool has_name = defined != trace_.definitions().names.end() && !defined->second.empty();
    if (has_name ? defined->second.rfind(kOptimizerStep, 0) == 0 : in_optimizer_[stack] && !in_closure_[stack]) {
      // Without Python frames all calls of one optimizer are one place.
      Mark step = mark;
      step.identity = 0;
      step.idle = !state->worked;
      state->worked = false;
      Group* group =
          GroupOfOptimizer(in_optimizer_[stack] ? optimizer_call_[stack] : uint64_t{1} << 63 | stack.value());
      group->in_backward |= trace_.definitions().stacks.Get(stack).node != 0;
      group->idle += step.idle;
      Keep(group, step);
      return;
    }
    // What an optimizer calls within its step is no loop of the job's.
    if (in_optimizer_[stack]) return;
    Keep(GroupOfName(Source::kName, name), mark);
    return;
  }
  if (kind == schema::MARK_RANGE_PUSH) {
    Group* group = GroupOfName(Source::kRange, name);
    const size_t kept = Keep(group, mark);
    // Ranges that never end do not fill the memory.
    constexpr size_t kDeepest = 4096;
    if (state->open.size() < kDeepest) {
      state->open.push_back({kept == SIZE_MAX ? nullptr : group, kept, DomainOf(name)});
    }
  } else if (kind == schema::MARK_RANGE_START) {
    OnRangeStart(mark, number);
  } else if (kind == schema::MARK_RANGE_END) {
    OnRangeEnd(time, number);
  } else if (kind == schema::MARK_INSTANT) {
    Keep(GroupOfName(Source::kName, name), mark);
  }
}

// How much of what happens from the first to the last of these ranges happens within them. Those of several threads may
// overlap: what two hold at once counts once.
double StepCandidates::HeldBy(const std::vector<Mark>& marks) const {
  if (marks.empty()) return 0;
  uint64_t last = 0;
  for (const Mark& mark : marks) last = std::max({last, mark.time, mark.end});
  double held_work = 0, held_time = 0;
  uint64_t until = marks.front().time;
  for (const Mark& mark : marks) {
    const uint64_t begin = std::max(mark.time, until);
    if (mark.end <= begin) continue;
    held_work += clock_.Work(mark.end) - clock_.Work(begin);
    held_time += clock_.Time(mark.end) - clock_.Time(begin);
    until = mark.end;
  }
  const double work = clock_.Work(last) - clock_.Work(marks.front().time);
  const double time = clock_.Time(last) - clock_.Time(marks.front().time);
  return std::max(work > 0 ? held_work / work : 0, time > 0 ? held_time / time : 0);
}

// A step may call its optimizers in turn, one of them several times, or one for each parameter: of marks in bursts the
// first of each counts. By time, as little else tells what lies between two calls.
std::vector<StepCandidates::Mark> StepCandidates::WithoutBursts(std::vector<Mark> marks, bool in_backward) const {
  std::vector<double> gaps;
  for (size_t i = 1; i < marks.size(); ++i) {
    gaps.push_back(clock_.Both(marks[i].time) - clock_.Both(marks[i - 1].time));
  }
  std::vector<double> sorted = gaps;
  std::sort(sorted.begin(), sorted.end());
  // The widest jump between two neighbours, with enough gaps on both sides.
  size_t split = 0;
  double widest = kBurstRatio;
  for (size_t i = kMinBursts; i + kMinBursts <= sorted.size(); ++i) {
    const double ratio = sorted[i] / std::max(sorted[i - 1], 1e-12);
    if (ratio <= widest) continue;
    widest = ratio;
    split = i;
  }
  if (split == 0) return marks;
  const double longest_within = sorted[split - 1];
  std::vector<size_t> sizes(1, 1);
  for (const double gap : gaps) {
    if (gap <= longest_within) {
      ++sizes.back();
    } else {
      sizes.push_back(1);
    }
  }
  // Bursts of one step are alike.
  std::vector<size_t> by_size = sizes;
  std::sort(by_size.begin(), by_size.end());
  const size_t usual = by_size[by_size.size() / 2];
  const auto alike = static_cast<size_t>(std::count(sizes.begin(), sizes.end(), usual));
  if (usual < 2 || alike * 10 < sizes.size() * 9) return marks;
  // An epoch of steps with an evaluation after it looks the same, but most happens within it.
  double within = 0, all = 0;
  for (const double gap : gaps) {
    within += gap <= longest_within ? gap : 0;
    all += gap;
  }
  const double most = in_backward ? kMostInBackward : usual <= kFewCalls ? kMostOfFewCalls : kMostOfCallsInTurn;
  if (within > most * all) return marks;
  std::vector<Mark> first = {marks[0]};
  for (size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i] > longest_within) first.push_back(marks[i + 1]);
  }
  return first;
}

void StepCandidates::Offer(StepSource source, const std::string& name, MarkTrust trust, std::vector<Mark> marks,
                           ThreadSlot only_steps_of) {
  if (marks.empty()) return;
  StepCandidate candidate;
  candidate.source = source;
  candidate.name = name;
  candidate.trust = trust;
  for (const Mark& mark : marks) candidate.times.push_back(mark.time);
  candidates_.push_back(std::move(candidate));
  marks_.push_back(std::move(marks));
  only_steps_of_.push_back(only_steps_of);
}

// Threads that count the same steps are replicas, and one of them tells; of others each does steps of its own.
void StepCandidates::OfferGroup(const GroupKey& key, Group* group) {
  std::vector<Mark>& marks = group->marks;
  std::map<ThreadSlot, size_t> of_slot;
  std::set<uint32_t> identities;
  size_t with_identity = 0;
  for (const Mark& mark : marks) {
    ++of_slot[mark.slot];
    if (mark.identity == 0) continue;
    identities.insert(mark.identity);
    ++with_identity;
  }
  const bool numbered = key.source != Source::kOptimizer && identities.size() > 1;
  const double again = numbered ? 1 - static_cast<double>(identities.size()) / static_cast<double>(with_identity) : 0;
  if (of_slot.size() > 1 && numbered && again >= kSameNumbers) {
    const ThreadSlot first = std::min_element(marks.begin(), marks.end(), [&](const Mark& a, const Mark& b) {
                               if (of_slot[a.slot] != of_slot[b.slot]) return of_slot[a.slot] > of_slot[b.slot];
                               return a.time < b.time;
                             })->slot;
    marks.erase(std::remove_if(marks.begin(), marks.end(), [&](const Mark& mark) { return mark.slot != first; }),
                marks.end());
  }
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.time < b.time; });
  switch (key.source) {
    case Source::kStepCall: {
      // All STEP events of a thread, or of all threads that have any.
      const ThreadSlot slot = marks[0].slot;
      const bool one = std::all_of(marks.begin(), marks.end(), [&](const Mark& mark) { return mark.slot == slot; });
      return Offer(StepSource::kMarks, "", MarkTrust::kStepCall, std::move(marks), one ? slot : ThreadSlot::None());
    }
    case Source::kRange: {
      const double held = HeldBy(marks);
      const MarkTrust trust = held >= kHoldsAll    ? MarkTrust::kRange
                              : held >= kHoldsHalf ? MarkTrust::kPartRange
                                                   : MarkTrust::kLooseName;
      Offer(StepSource::kNvtx, key.name, trust, std::move(marks));
      candidates_.back().held = held;
      return;
    }
    case Source::kName:
      return Offer(StepSource::kNvtx, key.name, MarkTrust::kLooseName, std::move(marks));
    case Source::kOptimizer:
      // Optimizers that are called in turn, at one place, make one step.
      if (group->idle * kIdleShare >= marks.size() && group->idle < marks.size()) {
        marks.erase(std::remove_if(marks.begin(), marks.end(), [](const Mark& mark) { return mark.idle; }),
                    marks.end());
      }
      return Offer(StepSource::kOptimizer, "", MarkTrust::kOptimizer,
                   WithoutBursts(std::move(marks), group->in_backward));
  }
}

void StepCandidates::MakeCandidates() {
  std::vector<Mark> optimizers;
  size_t calls = 0;
  bool in_backward = false;
  for (auto& [key, group] : groups_) {
    if (key.source == Source::kOptimizer && !group.too_many) {
      in_backward |= group.in_backward;
      optimizers.insert(optimizers.end(), group.marks.begin(), group.marks.end());
      ++calls;
    }
    if (!group.marks.empty() && !IsInsideXla(key.name)) OfferGroup(key, &group);
  }
  groups_.clear();
  group_of_name_.clear();
  if (calls < 2) return;
  std::stable_sort(optimizers.begin(), optimizers.end(), [](const Mark& a, const Mark& b) { return a.time < b.time; });
  Offer(StepSource::kOptimizer, "", MarkTrust::kAnyOptimizer, WithoutBursts(std::move(optimizers), in_backward));
}

void StepCandidates::Confirm(const std::vector<uint64_t>& loops) {
  for (StepCandidate& candidate : candidates_) {
    if (candidate.trust != MarkTrust::kLooseName) continue;
    const auto count = static_cast<double>(candidate.times.size());
    const bool same = std::any_of(loops.begin(), loops.end(), [&](uint64_t loop) {
      return std::abs(count - static_cast<double>(loop)) <= kSameCount * count + 1;
    });
    if (same) candidate.trust = MarkTrust::kConfirmedName;
  }
}

}  // namespace vramtrack
