// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/leak_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/leaks/call_path.h"
#include "analyzer/findings/leaks/leak_line.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {
namespace {

// Leaks beyond this number are reported one by one, as the comparison of all with all would take long.
constexpr size_t kMaxCandidates = 3000;
// Clean sites whose stacks are looked at; reading debug information for more would take long.
constexpr size_t kMaxBystanders = 400;
// In this share of the steps at least.
constexpr uint32_t kRegularShare = 4;
// So many leaks under one call are one graph; of two it would be a guess.
constexpr size_t kManyParts = 3;
// Growing buffers are of one cache if their rates and onsets are no further apart.
constexpr double kSameRate = 0.01;
constexpr Step kBuffersBeginWithin = 2;
// Twins are several in each step: one of each proves nothing.
constexpr double kTwinObjects = 2;

bool InPython(const std::vector<ReportFrame>& frames) {
  return std::any_of(frames.begin(), frames.end(),
                     [](const ReportFrame& frame) { return frame.language == Language::kPython; });
}

// The innermost function of the job's own, "" for none.
std::string OwnFunction(const std::vector<ReportFrame>& frames) {
  const std::optional<size_t> own = OwnFrame(frames);
  if (!own) return "";
  const ReportFrame& frame = frames[*own];
  if (frame.language != Language::kPython || frame.installed || frame.origin != ReportFrame::Origin::kJob) return "";
  return frame.file + "|" + frame.function;
}

}  // namespace

struct LeakGrouping::Candidate {
  size_t group;  // of ProcessAnalysis
  DeviceIndex device;
  Level level;
  StepSpan tested;
  SurvivorSeries survivors = {};
  uint64_t live_objects = 0;  // when the last complete step ended
  double bytes_per_step = 0, objects_per_step = 0;
  std::optional<StepSpan> replaced = std::nullopt;  // of a growing buffer: the steps in which it grew
  uint32_t line = UINT32_MAX;                       // index into the verdicts of lines
  bool joint = false;                               // it leaks only together with the others of its line
  bool in_python = false;
  uint32_t kind = schema::KIND_NONE;
  bool in_graph_pools = false;
  const std::vector<ReportFrame>* frames = nullptr;
  size_t blamed = 0;                  // index into them
  std::vector<ReportFrame> raw = {};  // of framework blocks
};

LeakGrouping::LeakGrouping(ProcessAnalysis* analysis) : analysis_(*analysis), order_(*analysis) {
  const Ledger& ledger = analysis_.ledger();
  for (size_t i = 0; i < analysis_.groups().size() && candidates_.size() < kMaxCandidates; ++i) {
    const SiteGroup& group = analysis_.groups()[i];
    const SiteVerdict& first = analysis_.verdicts()[group.sites[0]];
    if (!IsLeak(first.verdict)) continue;
    const Site& site = ledger.sites()[group.sites[0]];
    const SiteKey& key = site.key;
    Candidate candidate{i, key.device, LevelOf(site), first.tested};
    for (const SiteIndex one : group.sites) {
      const SiteHistory history = analysis_.histories().history(one);
      candidate.survivors = SumOf(candidate.survivors, SurvivorsIn(history, {0, analysis_.run().steps}));
      candidate.live_objects += history.live_objects();
      candidate.bytes_per_step += analysis_.verdicts()[one].rate_bytes_per_step;
      candidate.objects_per_step += analysis_.verdicts()[one].rate_objects_per_step;
    }
    candidate.kind = key.kind;
    candidate.in_graph_pools = IsInGraphPools(site);
    if (first.replaced) candidate.replaced = first.leaking;
    candidate.line = first.line;
    candidate.joint = first.joint;
    candidate.frames = &group.frames;
    candidate.blamed = analysis_.blame().Blame(group.frames);
    candidate.in_python = InPython(group.frames);
    if (candidate.in_python && candidate.level == Level::kFramework) candidate.raw = analysis_.raw().Frames(key.stack);
    parent_.push_back(candidates_.size());
    candidates_.push_back(std::move(candidate));
  }
}

LeakGrouping::~LeakGrouping() = default;

size_t LeakGrouping::Root(size_t index) const {
  while (parent_[index] != index) index = parent_[index] = parent_[parent_[index]];
  return index;
}

void LeakGrouping::Tie(size_t a, size_t b) {
  a = Root(a);
  b = Root(b);
  parent_[std::max(a, b)] = std::min(a, b);
}

std::vector<std::vector<size_t>> LeakGrouping::Sets() const {
  std::map<size_t, std::vector<size_t>> by_root;
  for (size_t i = 0; i < candidates_.size(); ++i) by_root[Root(i)].push_back(i);
  std::vector<std::vector<size_t>> sets;
  for (auto& [root, members] : by_root) sets.push_back(std::move(members));
  return sets;
}

// Keys and values of one cache: buffers that grow at one rate since the same step.
bool LeakGrouping::GrowAlike(const Candidate& a, const Candidate& b) const {
  if (!a.replaced || !b.replaced) return false;
  const Step first = std::min(a.replaced->begin, b.replaced->begin),
             last = std::max(a.replaced->begin, b.replaced->begin);
  return last - first <= kBuffersBeginWithin &&
         std::fabs(a.bytes_per_step - b.bytes_per_step) <= kSameRate * std::max(a.bytes_per_step, b.bytes_per_step);
}

bool LeakGrouping::Alike(const Candidate& a, const Candidate& b) const {
  if (a.device != b.device || a.level != b.level) return false;
  return a.replaced || b.replaced ? GrowAlike(a, b) : SameStepsOf(a, b);
}

bool LeakGrouping::SameStepsOf(const Candidate& a, const Candidate& b) const {
  const StepSpan both{std::max(a.tested.begin, b.tested.begin), std::min(a.tested.end, b.tested.end)};
  return SameSteps(a.survivors, b.survivors, both);
}

void LeakGrouping::FindBystanders() {
  if (std::exchange(looked_for_bystanders_, true)) return;
  const Ledger& ledger = analysis_.ledger();
  for (const SiteIndex i : ledger.sites().indices()) {
    if (bystanders_.size() == kMaxBystanders) break;
    const Site& site = ledger.sites()[i];
    if (IsLeak(analysis_.verdicts()[i].verdict) || IsSegmentSite(site) || 2 * site.frees < site.allocations) continue;
    const SiteHistory history = analysis_.histories().history(i);
    if (history.birth_steps * kRegularShare < analysis_.run().steps) continue;
    bystanders_.push_back(analysis_.symbolizer().Frames(site.key.stack));
  }
}

// Whether something else of the same loop is allocated outside the last of `calls` calls: the call is within the loop
// then, and not around it.
bool LeakGrouping::LeavesSomeoneOut(const Candidate& candidate, size_t calls) {
  FindBystanders();
  return std::any_of(bystanders_.begin(), bystanders_.end(), [&](const std::vector<ReportFrame>& frames) {
    return CommonCalls(frames, *candidate.frames) < calls && PartInOneFunction(frames, *candidate.frames, 0);
  });
}

// Whether the function that the last of `calls` calls leads to allocates nothing, throughout the run, that is freed.
bool LeakGrouping::LeadsToLeaksOnly(const Candidate& candidate, size_t calls) {
  FindBystanders();
  return std::none_of(bystanders_.begin(), bystanders_.end(), [&](const std::vector<ReportFrame>& frames) {
    const size_t common = CommonCalls(frames, *candidate.frames);
    return common > calls || (common == calls && PartInOneFunction(frames, *candidate.frames, calls));
  });
}

bool LeakGrouping::TiedByCall(const Candidate& a, const Candidate& b) {
  if (order_.ReleaseOf(a.group, b.group) == LeakOrder::Release::kApart) return false;
  const size_t calls = CommonCalls(*a.frames, *b.frames);
  if (a.replaced) return calls > 0 && PartInOneFunction(*a.frames, *b.frames, calls);
  if (!a.raw.empty() && !b.raw.empty() && ShareModuleCall(a.raw, b.raw)) return true;
  if (calls == 0) return false;
  if (CallsLibrary(*a.frames, calls) && CallsLibrary(*b.frames, calls) && LeavesSomeoneOut(a, calls)) return true;
  if (!PartInOneFunction(*a.frames, *b.frames, calls)) return false;
  if (IsConstructor(*CalledBy(*a.frames, calls))) return true;
  if (LeadsToLeaksOnly(a, calls) && LeavesSomeoneOut(a, calls)) return true;
  const StepSpan both{std::max(a.tested.begin, b.tested.begin), std::min(a.tested.end, b.tested.end)};
  return std::min(a.objects_per_step, b.objects_per_step) >= kTwinObjects &&
         SameAmounts(a.survivors, b.survivors, both);
}

// A forward pass that is no module of PyTorch's: three leaks of a framework's blocks or more in what one call leads to.
void LeakGrouping::TieManyUnderOneCall(const std::vector<size_t>& alike) {
  std::map<std::string, std::vector<size_t>> by_call;
  for (const size_t i : alike) {
    const Candidate& candidate = candidates_[i];
    if (candidate.level != Level::kFramework) continue;
    for (size_t calls = 1; calls < candidate.frames->size(); ++calls) {
      by_call[CallKey(*candidate.frames, calls)].push_back(i);
    }
  }
  for (const auto& [key, members] : by_call) {
    if (members.size() < kManyParts) continue;
    const size_t calls = SharedCalls(members);
    if (calls > 0 && LeavesSomeoneOut(candidates_[members[0]], calls)) {
      for (const size_t i : members) Tie(members[0], i);
    }
  }
}

void LeakGrouping::TieByCalls() {
  for (size_t i = 0; i < parent_.size(); ++i) parent_[i] = i;
  // By the first that leaves something in the same steps.
  std::vector<std::vector<size_t>> alike;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const auto found = std::find_if(alike.begin(), alike.end(), [&](const std::vector<size_t>& others) {
      return Alike(candidates_[others[0]], candidates_[i]);
    });
    if (found == alike.end()) {
      alike.push_back({i});
    } else {
      found->push_back(i);
    }
  }
  for (const std::vector<size_t>& members : alike) {
    for (size_t i = 0; i < members.size(); ++i) {
      for (size_t j = i + 1; j < members.size(); ++j) {
        if (Root(members[i]) == Root(members[j])) continue;
        if (TiedByCall(candidates_[members[i]], candidates_[members[j]])) Tie(members[i], members[j]);
      }
    }
    TieManyUnderOneCall(members);
  }
  TieGraphPools();
  TieLines();
}

bool LeakGrouping::OneLine(const Candidate& a, const Candidate& b) const {
  if (a.line == UINT32_MAX || a.line != b.line) return false;
  if (a.frames->empty() || b.frames->empty()) return false;
  return SamePlace((*a.frames)[a.blamed], (*b.frames)[b.blamed]);
}

void LeakGrouping::TieLines() {
  for (size_t i = 0; i < candidates_.size(); ++i) {
    for (size_t j = i + 1; j < candidates_.size(); ++j) {
      const Candidate& a = candidates_[i];
      const Candidate& b = candidates_[j];
      if (OneLine(a, b) || (a.joint && b.joint && a.line == b.line)) Tie(i, j);
    }
  }
}

// What is captured in one function of the job's is one graph each time: its segments, which its blocks lie in, the
// graph itself, and the inputs that were made for it in the same steps.
void LeakGrouping::TieGraphPools() {
  std::vector<size_t> pools;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].kind == schema::GRAPH_POOL) pools.push_back(i);
  }
  for (const size_t pool : pools) {
    const Candidate& of = candidates_[pool];
    const std::string function = OwnFunction(*of.frames);
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& other = candidates_[i];
      if (Root(i) == Root(pool) || other.device != of.device) continue;
      const bool same_function = !function.empty() && OwnFunction(*other.frames) == function;
      const bool belongs = other.kind == schema::GRAPH_POOL || other.in_graph_pools
                               ? same_function || SameStepsOf(of, other)
                               : same_function && SameStepsOf(of, other);
      if (belongs) Tie(pool, i);
    }
  }
}

// Objects of two lines that are given back in turn have one owner. Blocks of PyTorch's that the interpreter does not
// give back at its end, where it clears every list and every variable, are in a graph.
void LeakGrouping::TieByRelease() {
  const bool ended = analysis_.trace().IncompleteWhy().empty() && order_.CleanedUp();
  const auto is_kept = [&](const Candidate& candidate) {
    return ended && candidate.in_python && candidate.level == Level::kFramework &&
           order_.ReleasedAtEnd(candidate.group) == 0;
  };
  for (size_t i = 0; i < candidates_.size(); ++i) {
    for (size_t j = i + 1; j < candidates_.size(); ++j) {
      const Candidate& a = candidates_[i];
      const Candidate& b = candidates_[j];
      if (Root(i) == Root(j) || !Alike(a, b)) continue;
      const bool in_one_function = PartInOneFunction(*a.frames, *b.frames, CommonCalls(*a.frames, *b.frames));
      if (!in_one_function) continue;
      if (order_.ReleaseOf(a.group, b.group) == LeakOrder::Release::kTogether || (is_kept(a) && is_kept(b))) Tie(i, j);
    }
  }
}

// The tensor that keeps a graph is the last to be born, perhaps at another line of the function that made the graph:
// `total = total + loss`.
void LeakGrouping::JoinHeads() {
  for (const std::vector<size_t>& members : Sets()) {
    const Candidate& first = candidates_[members[0]];
    if (members.size() < 2 || first.level != Level::kFramework || !first.in_python) continue;
    const size_t calls = SharedCalls(members);
    if (calls == 0) continue;
    size_t last = members[0];
    for (const size_t i : members) {
      if (order_.BornLater(candidates_[i].group, candidates_[last].group)) last = i;
    }
    size_t head = last;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& other = candidates_[i];
      if (Root(i) == Root(members[0]) || !Alike(first, other)) continue;
      if (CommonCalls(*first.frames, *other.frames) != calls - 1) continue;
      if (!PartInOneFunction(*first.frames, *other.frames, calls - 1)) continue;
      const bool apart = std::any_of(members.begin(), members.end(), [&](size_t member) {
        return order_.ReleaseOf(candidates_[member].group, other.group) == LeakOrder::Release::kApart;
      });
      if (!apart && order_.BornLater(other.group, candidates_[head].group)) head = i;
    }
    if (head != last) Tie(head, last);
  }
}

// The calls that all of them share.
size_t LeakGrouping::SharedCalls(const std::vector<size_t>& members) const {
  const std::vector<ReportFrame>& first = *candidates_[members[0]].frames;
  size_t calls = first.size();
  for (const size_t i : members) calls = std::min(calls, CommonCalls(first, *candidates_[i].frames));
  return calls;
}

// The line that the user owns, and perhaps another leader.
LeakLine LeakGrouping::LineOf(const std::vector<size_t>& members, const std::vector<size_t>& same_call,
                              size_t* leader) {
  if (!candidates_[*leader].in_python) return {};
  FindBystanders();
  std::vector<LeakMember> all;
  size_t first = 0;
  for (const size_t i : members) {
    const Candidate& candidate = candidates_[i];
    if (i == *leader) first = all.size();
    all.push_back({candidate.frames,
                   candidate.level == Level::kHandle ? candidate.objects_per_step : candidate.bytes_per_step,
                   std::find(same_call.begin(), same_call.end(), i) != same_call.end()});
  }
  LeakLine line = FindLeakLine(all, first, bystanders_);
  *leader = members[line.leader];
  return line;
}

std::vector<LeakGroup> LeakGrouping::Find() {
  TieByCalls();
  const std::vector<std::vector<size_t>> by_calls = Sets();
  TieByRelease();
  JoinHeads();
  std::map<size_t, const std::vector<size_t>*> calls_of;  // by candidate
  for (const std::vector<size_t>& members : by_calls) {
    for (const size_t i : members) calls_of[i] = &members;
  }
  std::vector<LeakGroup> groups;
  for (std::vector<size_t> members : Sets()) {
    const Candidate& first = candidates_[members[0]];
    const bool graph = first.level == Level::kFramework && first.in_python;
    const auto leads = [&](size_t a, size_t b) {
      const Candidate& left = candidates_[a];
      const Candidate& right = candidates_[b];
      const bool left_pool = left.kind == schema::GRAPH_POOL, right_pool = right.kind == schema::GRAPH_POOL;
      if (left_pool != right_pool) return left_pool;
      if (graph && !left_pool) return order_.BornLater(left.group, right.group);
      return std::make_tuple(-left.bytes_per_step, -left.objects_per_step, left.group) <
             std::make_tuple(-right.bytes_per_step, -right.objects_per_step, right.group);
    };
    size_t leader = members[0];
    for (const size_t i : members) {
      if (i != leader && leads(i, leader)) leader = i;
    }
    std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) {
      return std::make_tuple(-candidates_[a].bytes_per_step, -candidates_[a].objects_per_step) <
             std::make_tuple(-candidates_[b].bytes_per_step, -candidates_[b].objects_per_step);
    });
    const std::vector<size_t>& same_call = *calls_of.at(leader);
    LeakGroup group;
    const bool of_graphs = candidates_[leader].kind == schema::GRAPH_POOL;
    // What is captured there, wherever its inputs are made.
    if (of_graphs) group.call_frame = OwnFrame(*candidates_[leader].frames);
    const bool one_line = std::all_of(members.begin(), members.end(), [&](size_t i) {
      return i == leader || OneLine(candidates_[leader], candidates_[i]);
    });
    if (!one_line && !of_graphs) {
      const LeakLine line = LineOf(members, same_call, &leader);
      if (line.line) {
        group.call_frame = line.line;
      } else if (members.size() > same_call.size() || same_call.size() > 1) {
        // The one call, or, of parts at several lines of one function, the leader's line there.
        const bool parts = members.size() > same_call.size();
        const size_t calls = SharedCalls(parts ? members : same_call);
        const std::vector<ReportFrame>& frames = *candidates_[leader].frames;
        if (parts ? calls < frames.size() : calls > 0) {
          const size_t frame = NamingFrame(frames, frames.size() - (parts ? 1 : 0) - calls);
          group.call_frame = OwnFrame(frames, frame).value_or(frame);
          if (candidates_[leader].in_python) {
            group.call_frame = LineThatKeeps(frames, *group.call_frame, bystanders_);
          }
        }
      }
    }
    if (one_line && candidates_[leader].in_python && !of_graphs) {
      FindBystanders();
      group.call_frame = KeepingCaller(*candidates_[leader].frames, bystanders_);
    }
    group.leader = candidates_[leader].group;
    for (const size_t i : members) {
      if (i != leader) group.parts.push_back(candidates_[i].group);
    }
    groups.push_back(std::move(group));
  }
  for (size_t i = 0; i < analysis_.groups().size(); ++i) {
    const bool leaks = IsLeak(analysis_.verdicts()[analysis_.groups()[i].sites[0]].verdict);
    if (!leaks || std::any_of(candidates_.begin(), candidates_.end(),
                              [i](const Candidate& candidate) { return candidate.group == i; })) {
      continue;
    }
    groups.push_back({i, {}, std::nullopt});
  }
  return groups;
}

std::vector<LeakGroup> FindLeaks(ProcessAnalysis* analysis) { return LeakGrouping(analysis).Find(); }

}  // namespace vramtrack
