// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/step_candidates.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "analyzer/base/affix.h"
#include "analyzer/base/median.h"

namespace vramtrack {
namespace {

using Source = MarkScan::Source;

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

// XLA pushes ranges while it compiles, and one for each kernel and CUDA graph that a function runs. Functions share
// these names.
bool IsInsideXla(std::string_view name) { return StartsWith(name, "TSL:Xla") || StartsWith(name, "TSL:Thunk:"); }

}  // namespace

StepCandidates::StepCandidates(const Trace& trace, std::unique_ptr<MarkScan>* kept) : optimizers_(trace.definitions()) {
  if (kept != nullptr) {
    if (*kept == nullptr || !(*kept)->CanGoOn(trace)) *kept = std::make_unique<MarkScan>(trace);
    (*kept)->ReadSettled(trace, optimizers_);
  }
  MarkScan scan = kept != nullptr ? **kept : MarkScan(trace);
  scan.ReadAll(trace, optimizers_);
  clock_ = scan.Clock();
  optimizer_entries_ = scan.OptimizerEntries();
  cell_entries_ = scan.CellEntries();
  MakeCandidates(scan.TakeGroups());
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
  const size_t usual = UpperMedian(sizes);
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

void StepCandidates::MakeCandidates(std::map<GroupKey, Group> groups) {
  std::vector<Mark> optimizers;
  size_t calls = 0;
  bool in_backward = false;
  for (auto& [key, group] : groups) {
    if (key.source == Source::kOptimizer && !group.too_many) {
      in_backward |= group.in_backward;
      optimizers.insert(optimizers.end(), group.marks.begin(), group.marks.end());
      ++calls;
    }
    if (!group.marks.empty() && !IsInsideXla(key.name)) OfferGroup(key, &group);
  }
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
