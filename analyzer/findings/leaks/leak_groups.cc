// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/leak_groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/findings/leaks/leak_line.h"
#include "analyzer/findings/leaks/leak_order.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {
namespace {

// Leaks beyond this number are reported one by one, as the comparison of all with all would take long.
constexpr size_t kMaxCandidates = 3000;
// Clean sites whose stacks are looked at; reading debug information for more would take long.
constexpr size_t kMaxSoundStacks = 400;
// In this share of the steps at least.
constexpr uint32_t kRegularShare = 4;
// So many leaks under one call are one graph; of two it would be a guess.
constexpr size_t kManyParts = 3;
// Growing buffers are of one cache if their rates and onsets differ by at most this.
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

// How FindLeaks does it, in steps.
class LeakGrouping {
 public:
  explicit LeakGrouping(ProcessAnalysis* analysis) : analysis_(*analysis), order_(*analysis) {
    const Ledger& ledger = analysis_.ledger();
    for (size_t i = 0; i < analysis_.groups().size(); ++i) {
      const SiteGroup& group = analysis_.groups()[i];
      const SiteVerdict& first = analysis_.verdicts()[group.sites[0]];
      if (!IsLeak(first.verdict)) continue;
      if (candidates_.size() == kMaxCandidates) {
        beyond_limit_.push_back(i);
        continue;
      }
      const Site& site = ledger.sites()[group.sites[0]];
      Candidate candidate{i,
                          &site,
                          &first,
                          &group.frames,
                          LevelOf(site),
                          InPython(group.frames),
                          analysis_.blame().Blame(group.frames)};
      for (const SiteIndex one : group.sites) {
        const SiteHistory history = analysis_.histories().history(one);
        candidate.survivors = SumOf(candidate.survivors, SurvivorsIn(history, {0, analysis_.run().steps}));
        candidate.bytes_per_step += analysis_.verdicts()[one].rate_bytes_per_step;
        candidate.objects_per_step += analysis_.verdicts()[one].rate_objects_per_step;
      }
      if (candidate.in_python && candidate.level == Level::kFramework) {
        candidate.raw = analysis_.raw().Frames(site.key.stack);
      }
      all_.push_back(candidates_.size());
      candidates_.push_back(std::move(candidate));
    }
    parent_ = all_;
  }

  // Returns the leaks. Call it once.
  std::vector<LeakGroup> Find() {
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
      size_t leader = LeaderOf(members);
      std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) { return RateOf(a) > RateOf(b); });
      LeakGroup group;
      group.call_frame = CallFrameOf(members, *calls_of.at(leader), &leader);
      group.leader = candidates_[leader].group;
      for (const size_t i : members) {
        if (i != leader) group.parts.push_back(candidates_[i].group);
      }
      groups.push_back(std::move(group));
    }
    for (const size_t group : beyond_limit_) groups.push_back({group, {}, std::nullopt});
    return groups;
  }

 private:
  struct Candidate {
    size_t group;  // of ProcessAnalysis, with its first site and the verdict on it
    const Site* site;
    const SiteVerdict* verdict;
    const std::vector<ReportFrame>* frames;
    Level level;
    bool in_python;
    size_t blamed;  // index into the frames
    SurvivorSeries survivors = {};
    double bytes_per_step = 0, objects_per_step = 0;
    std::vector<ReportFrame> raw = {};  // of framework blocks
  };

  size_t Root(size_t index) const {
    while (parent_[index] != index) index = parent_[index] = parent_[parent_[index]];
    return index;
  }

  void Tie(size_t a, size_t b) {
    a = Root(a);
    b = Root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  std::vector<std::vector<size_t>> Sets() const {
    std::map<size_t, std::vector<size_t>> by_root;
    for (size_t i = 0; i < candidates_.size(); ++i) by_root[Root(i)].push_back(i);
    std::vector<std::vector<size_t>> sets;
    for (auto& [root, members] : by_root) sets.push_back(std::move(members));
    return sets;
  }

  // Keys and values of one cache: buffers that grow at one rate since the same step.
  static bool GrowAlike(const Candidate& a, const Candidate& b) {
    if (!a.verdict->replaced || !b.verdict->replaced) return false;
    const Step first = std::min(a.verdict->leaking.begin, b.verdict->leaking.begin),
               last = std::max(a.verdict->leaking.begin, b.verdict->leaking.begin);
    return last - first <= kBuffersBeginWithin &&
           std::fabs(a.bytes_per_step - b.bytes_per_step) <= kSameRate * std::max(a.bytes_per_step, b.bytes_per_step);
  }

  static bool Alike(const Candidate& a, const Candidate& b) {
    if (a.site->key.device != b.site->key.device || a.level != b.level) return false;
    return a.verdict->replaced || b.verdict->replaced ? GrowAlike(a, b) : SameStepsOf(a, b);
  }

  static StepSpan TestedOfBoth(const Candidate& a, const Candidate& b) {
    return {std::max(a.verdict->tested.begin, b.verdict->tested.begin),
            std::min(a.verdict->tested.end, b.verdict->tested.end)};
  }

  static bool SameStepsOf(const Candidate& a, const Candidate& b) {
    return SameSteps(a.survivors, b.survivors, TestedOfBoth(a, b));
  }

  void FindSoundStacks() {
    if (std::exchange(looked_for_sound_stacks_, true)) return;
    const Ledger& ledger = analysis_.ledger();
    for (const SiteIndex i : ledger.sites().indices()) {
      if (sound_stacks_.size() == kMaxSoundStacks) break;
      const Site& site = ledger.sites()[i];
      if (IsLeak(analysis_.verdicts()[i].verdict) || IsSegmentSite(site) || 2 * site.frees < site.allocations) continue;
      const SiteHistory history = analysis_.histories().history(i);
      if (history.birth_steps * kRegularShare < analysis_.run().steps) continue;
      sound_stacks_.push_back(analysis_.symbolizer().Frames(site.key.stack));
    }
  }

  // Whether something else of the same loop is allocated outside the last of `calls` calls: the call is within the loop
  // then, and not around it.
  bool LeavesOthersOut(const Candidate& candidate, size_t calls) {
    FindSoundStacks();
    return std::any_of(sound_stacks_.begin(), sound_stacks_.end(), [&](const std::vector<ReportFrame>& frames) {
      return CommonCalls(frames, *candidate.frames) < calls && PartInOneFunction(frames, *candidate.frames, 0);
    });
  }

  // Whether the function that the last of `calls` calls leads to allocates nothing, throughout the run, that is freed.
  bool LeadsToLeaksOnly(const Candidate& candidate, size_t calls) {
    FindSoundStacks();
    return std::none_of(sound_stacks_.begin(), sound_stacks_.end(), [&](const std::vector<ReportFrame>& frames) {
      const size_t common = CommonCalls(frames, *candidate.frames);
      return common > calls || (common == calls && PartInOneFunction(frames, *candidate.frames, calls));
    });
  }

  bool TiedByCall(const Candidate& a, const Candidate& b) {
    if (order_.ReleaseOf(a.group, b.group) == LeakOrder::Release::kApart) return false;
    const size_t calls = CommonCalls(*a.frames, *b.frames);
    if (a.verdict->replaced) return calls > 0 && PartInOneFunction(*a.frames, *b.frames, calls);
    if (!a.raw.empty() && !b.raw.empty() && ShareModuleCall(a.raw, b.raw)) return true;
    if (calls == 0) return false;
    if (CallsLibrary(*a.frames, calls) && CallsLibrary(*b.frames, calls) && LeavesOthersOut(a, calls)) return true;
    if (!PartInOneFunction(*a.frames, *b.frames, calls)) return false;
    if (IsConstructor(*CalledBy(*a.frames, calls))) return true;
    if (LeadsToLeaksOnly(a, calls) && LeavesOthersOut(a, calls)) return true;
    return std::min(a.objects_per_step, b.objects_per_step) >= kTwinObjects &&
           SameAmounts(a.survivors, b.survivors, TestedOfBoth(a, b));
  }

  // A forward pass outside PyTorch's modules: three leaks of a framework's blocks or more in what one call leads
  // to.
  void TieManyUnderOneCall(const std::vector<size_t>& alike) {
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
      if (calls > 0 && LeavesOthersOut(candidates_[members[0]], calls)) {
        for (const size_t i : members) Tie(members[0], i);
      }
    }
  }

  // Ties all pairs of `members` for which `tied` holds.
  template <typename Tied>
  void TiePairs(const std::vector<size_t>& members, Tied tied) {
    for (size_t i = 0; i < members.size(); ++i) {
      for (size_t j = i + 1; j < members.size(); ++j) {
        if (Root(members[i]) == Root(members[j])) continue;
        if (tied(candidates_[members[i]], candidates_[members[j]])) Tie(members[i], members[j]);
      }
    }
  }

  void TieByCalls() {
    // By the first that leaves something in the same steps.
    std::vector<std::vector<size_t>> alike;
    for (const size_t i : all_) {
      const auto found = std::find_if(alike.begin(), alike.end(), [&](const std::vector<size_t>& others) {
        return Alike(candidates_[others[0]], candidates_[i]);
      });
      (found == alike.end() ? alike.emplace_back() : *found).push_back(i);
    }
    for (const std::vector<size_t>& members : alike) {
      TiePairs(members, [this](const Candidate& a, const Candidate& b) { return TiedByCall(a, b); });
      TieManyUnderOneCall(members);
    }
    TieGraphPools();
    // What was judged together, and stacks of one line that are to be blamed for the same place.
    TiePairs(all_, [](const Candidate& a, const Candidate& b) {
      return OneLine(a, b) || (a.verdict->joint && b.verdict->joint && a.verdict->line == b.verdict->line);
    });
  }

  static bool OneLine(const Candidate& a, const Candidate& b) {
    if (a.verdict->line == UINT32_MAX || a.verdict->line != b.verdict->line) return false;
    if (a.frames->empty() || b.frames->empty()) return false;
    return SamePlace((*a.frames)[a.blamed], (*b.frames)[b.blamed]);
  }

  // What is captured in one function of the job's is one graph each time: its segments, which its blocks lie in, the
  // graph itself, and the inputs that were made for it in the same steps.
  void TieGraphPools() {
    std::vector<size_t> pools;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (IsGraphPool(candidates_[i].site->key.kind)) pools.push_back(i);
    }
    for (const size_t pool : pools) {
      const Candidate& of = candidates_[pool];
      const std::string function = OwnFunction(*of.frames);
      for (size_t i = 0; i < candidates_.size(); ++i) {
        const Candidate& other = candidates_[i];
        if (Root(i) == Root(pool) || other.site->key.device != of.site->key.device) continue;
        const bool same_function = !function.empty() && OwnFunction(*other.frames) == function;
        const bool belongs = IsGraphPool(other.site->key.kind) || IsInGraphPools(*other.site)
                                 ? same_function || SameStepsOf(of, other)
                                 : same_function && SameStepsOf(of, other);
        if (belongs) Tie(pool, i);
      }
    }
  }

  // Objects of two lines that are freed in turn have one owner. Blocks of PyTorch's that the interpreter does not
  // free at its end, where it clears every list and every variable, are in a graph.
  void TieByRelease() {
    const bool ended = analysis_.trace().IncompleteWhy().empty() && order_.CleanedUp();
    const auto is_kept = [&](const Candidate& candidate) {
      return ended && candidate.in_python && candidate.level == Level::kFramework &&
             order_.ReleasedAtEnd(candidate.group) == 0;
    };
    TiePairs(all_, [&](const Candidate& a, const Candidate& b) {
      if (!Alike(a, b) || !PartInOneFunction(*a.frames, *b.frames, CommonCalls(*a.frames, *b.frames))) return false;
      return order_.ReleaseOf(a.group, b.group) == LeakOrder::Release::kTogether || (is_kept(a) && is_kept(b));
    });
  }

  // The tensor that keeps a graph is the last to be born, perhaps at another line of the function that made the graph:
  // `total = total + loss`.
  void JoinHeads() {
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
  size_t SharedCalls(const std::vector<size_t>& members) const {
    const std::vector<ReportFrame>& first = *candidates_[members[0]].frames;
    size_t calls = first.size();
    for (const size_t i : members) calls = std::min(calls, CommonCalls(first, *candidates_[i].frames));
    return calls;
  }

  std::pair<double, double> RateOf(size_t i) const {
    return {candidates_[i].bytes_per_step, candidates_[i].objects_per_step};
  }

  // A graph's pool leads before all others; of blocks that a graph keeps, the one that is born last; else the rate.
  size_t LeaderOf(const std::vector<size_t>& members) const {
    const Candidate& first = candidates_[members[0]];
    const bool graph = first.level == Level::kFramework && first.in_python;
    const auto leads = [&](size_t a, size_t b) {
      const bool pool = IsGraphPool(candidates_[a].site->key.kind);
      if (pool != IsGraphPool(candidates_[b].site->key.kind)) return pool;
      if (graph && !pool) return order_.BornLater(candidates_[a].group, candidates_[b].group);
      return RateOf(a) != RateOf(b) ? RateOf(a) > RateOf(b) : candidates_[a].group < candidates_[b].group;
    };
    size_t leader = members[0];
    for (const size_t i : members) {
      if (i != leader && leads(i, leader)) leader = i;
    }
    return leader;
  }

  // The frame of the leader to name; none: the one that it would have alone. `same_call`: the members that calls tie to
  // the leader. May choose another leader.
  std::optional<size_t> CallFrameOf(const std::vector<size_t>& members, const std::vector<size_t>& same_call,
                                    size_t* leader) {
    const Candidate& first = candidates_[*leader];
    // What is captured there, wherever its inputs are made.
    if (IsGraphPool(first.site->key.kind)) return OwnFrame(*first.frames);
    if (first.in_python) FindSoundStacks();
    const bool one_line = std::all_of(members.begin(), members.end(),
                                      [&](size_t i) { return i == *leader || OneLine(first, candidates_[i]); });
    if (one_line) return first.in_python ? KeepingCaller(*first.frames, sound_stacks_) : std::nullopt;
    const LeakLine line = first.in_python ? LineOf(members, same_call, leader) : LeakLine();
    if (line.line) return line.line;
    if (members.size() == same_call.size() && same_call.size() == 1) return std::nullopt;
    // The one call, or, of parts at several lines of one function, the leader's line there.
    const bool parts = members.size() > same_call.size();
    const size_t calls = SharedCalls(parts ? members : same_call);
    const std::vector<ReportFrame>& frames = *candidates_[*leader].frames;
    if (parts ? calls == frames.size() : calls == 0) return std::nullopt;
    const size_t frame = NamingFrame(frames, frames.size() - (parts ? 1 : 0) - calls);
    const size_t own = OwnFrame(frames, frame).value_or(frame);
    return candidates_[*leader].in_python ? LineThatKeeps(frames, own, sound_stacks_) : own;
  }

  // The line that the user owns, and perhaps another leader.
  LeakLine LineOf(const std::vector<size_t>& members, const std::vector<size_t>& same_call, size_t* leader) const {
    std::vector<LeakMember> all;
    size_t first = 0;
    for (const size_t i : members) {
      const Candidate& candidate = candidates_[i];
      if (i == *leader) first = all.size();
      all.push_back({candidate.frames,
                     candidate.level == Level::kHandle ? candidate.objects_per_step : candidate.bytes_per_step,
                     std::find(same_call.begin(), same_call.end(), i) != same_call.end()});
    }
    LeakLine line = FindLeakLine(all, first, sound_stacks_);
    *leader = members[line.leader];
    return line;
  }

  ProcessAnalysis& analysis_;
  const LeakOrder order_;
  std::vector<Candidate> candidates_;
  std::vector<size_t> beyond_limit_;    // leaking groups of the analysis that cannot be candidates
  std::vector<size_t> all_;             // their indices
  mutable std::vector<size_t> parent_;  // a union-find forest over candidates_
  // Sites that allocate throughout the run and free. They distinguish loops from the functions called in them.
  std::vector<std::vector<ReportFrame>> sound_stacks_;
  bool looked_for_sound_stacks_ = false;
};

}  // namespace

std::vector<size_t> LeakGroup::Members() const {
  std::vector<size_t> members = parts;
  members.push_back(leader);
  std::sort(members.begin(), members.end());
  return members;
}

std::vector<LeakGroup> FindLeaks(ProcessAnalysis* analysis) { return LeakGrouping(analysis).Find(); }

}  // namespace vramtrack
