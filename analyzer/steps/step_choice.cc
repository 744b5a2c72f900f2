// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/step_choice.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "analyzer/base/median.h"

namespace vramtrack {
namespace {

// Fewer marks do not make a rhythm.
constexpr size_t kMinMarks = 4;
// A candidate that covers this share of a span is its steps.
constexpr double kCovers = 0.7;
// Those that cover this share of what the best one does are as good.
constexpr double kAsGood = 0.75;
// Both clocks must see a candidate's steps, at least this much of them.
constexpr double kSeenByBoth = 0.3;
// Of phases: what makes up less of the run is left to windows.
constexpr double kSmallestPhase = 0.02, kSmallestUnnamedPhase = 0.1;
constexpr double kSmallestRest = 0.05;
// A pause of so many usual distances that takes this share of the run parts the marks of one candidate.
constexpr double kPartingGap = 20, kPartingShare = 0.1;
// Long distances between marks that are a part of what the run does again and again.
constexpr size_t kFewestLongGaps = 8;

double Usual(const std::vector<double>& gaps) {
  if (gaps.empty()) return 0;
  if (const double median = UpperMedian(gaps); median > 0) return median;
  return std::accumulate(gaps.begin(), gaps.end(), 0.0) / static_cast<double>(gaps.size());
}

std::vector<double> GapsOf(const std::vector<double>& marks) {
  std::vector<double> gaps;
  for (size_t i = 1; i < marks.size(); ++i) gaps.push_back(marks[i] - marks[i - 1]);
  return gaps;
}

// Marks of a candidate, or of a part of it, within a span.
struct Fit {
  size_t candidate = 0, first = 0, end = 0;  // marks [first, end)
  double work = 0, time = 0;                 // coverage by each clock
  double coverage = 0;
  MarkTrust trust = MarkTrust::kLooseName;
  bool parted = false;  // it has a long pause, and its parts are offered by themselves

  size_t count() const { return end - first; }
  double most() const { return std::max(work, time); }
};

class Chooser {
 public:
  Chooser(const std::vector<StepCandidate>& candidates, const RunClock& clock)
      : candidates_(candidates), clock_(clock) {
    for (const StepCandidate& candidate : candidates_) {
      std::vector<double> work, time;
      for (const uint64_t at : candidate.times) {
        work.push_back(clock_.Work(at));
        time.push_back(clock_.Time(at));
      }
      work_.push_back(std::move(work));
      time_.push_back(std::move(time));
    }
  }

  StepChoice Run() {
    // With the marks of set-up and of the process's end, which both clocks leave out.
    Fill(0, UINT64_MAX, true);
    MergeUnjudged();
    for (const ChosenPhase& phase : choice_.phases) {
      if (phase.kind == ChosenPhase::Kind::kSteps) choice_.coverage += phase.coverage;
      if (phase.kind != ChosenPhase::Kind::kUnjudged) choice_.judged += phase.coverage;
    }
    choice_.coverage = std::min(choice_.coverage, 1.0);
    choice_.judged = std::min(choice_.judged, 1.0);
    FindRunnerUp();
    return std::move(choice_);
  }

 private:
  // The marks [first, end) of a candidate, held against the span [begin, end) of the run.
  Fit FitOf(size_t candidate, size_t first, size_t end_mark, uint64_t begin, uint64_t end) const {
    Fit fit;
    fit.candidate = candidate;
    fit.first = first;
    fit.end = end_mark;
    fit.trust = candidates_[candidate].trust;
    const auto part = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(first),
                                 all.begin() + static_cast<std::ptrdiff_t>(end_mark));
    };
    // By the job's own word all that is between two of its steps belongs to one, however long it is.
    const double longest_gap = fit.trust == MarkTrust::kStepCall ? INFINITY : kLongestGap;
    fit.time = CoverageOf(part(time_[candidate]), clock_.Time(begin), clock_.Time(end), longest_gap);
    if (!clock_.has_work()) {
      fit.coverage = fit.work = fit.time;
      return fit;
    }
    fit.work = CoverageOf(part(work_[candidate]), clock_.Work(begin), clock_.Work(end), longest_gap);
    const double least = std::min(fit.work, fit.time);
    fit.coverage = least > kSeenByBoth ? std::max(least, (fit.work + fit.time) / 2) : least;
    return fit;
  }

  // Whole candidates and, where a long pause parts their marks, the parts.
  std::vector<Fit> FitsIn(uint64_t begin, uint64_t end) const {
    std::vector<Fit> fits;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const std::vector<uint64_t>& times = candidates_[i].times;
      const auto first = static_cast<size_t>(std::lower_bound(times.begin(), times.end(), begin) - times.begin());
      const auto last = static_cast<size_t>(std::upper_bound(times.begin(), times.end(), end) - times.begin());
      if (last < first + kMinMarks) continue;
      fits.push_back(FitOf(i, first, last, begin, end));
      const double usual = Usual(GapsOf({time_[i].begin() + static_cast<std::ptrdiff_t>(first),
                                         time_[i].begin() + static_cast<std::ptrdiff_t>(last)}));
      size_t part = first;
      const size_t whole = fits.size() - 1;
      for (size_t mark = first + 1; mark <= last; ++mark) {
        if (mark < last) {
          const double pause = time_[i][mark] - time_[i][mark - 1];
          const double share = (pause + work_[i][mark] - work_[i][mark - 1]) / 2;
          if (pause < kPartingGap * usual || share < kPartingShare) continue;
        } else if (part == first) {
          break;  // all of them
        }
        fits[whole].parted = true;
        if (mark - part >= kEnoughSteps) fits.push_back(FitOf(i, part, mark, begin, end));
        part = mark;
      }
    }
    return fits;
  }

  // Of those that cover about as much as the best: by trust, the rarest that has enough steps, or else the one with
  // most.
  const Fit* Pick(const std::vector<Fit>& fits) const {
    double best = 0;
    for (const Fit& fit : fits) best = std::max(best, fit.coverage);
    const auto as_good = [&](const Fit& fit) { return fit.coverage >= kAsGood * best; };
    // The job itself says what its steps are, however few. The parts before and after them are judged by themselves.
    for (const Fit& fit : fits) {
      if (fit.trust == MarkTrust::kStepCall && as_good(fit) && fit.coverage >= kSmallestPhase) return &fit;
    }
    if (best < kCovers) return nullptr;
    const bool enough = std::any_of(fits.begin(), fits.end(),
                                    [&](const Fit& fit) { return as_good(fit) && fit.count() >= kEnoughSteps; });
    const Fit* picked = nullptr;
    for (const Fit& fit : fits) {
      if (!as_good(fit) || (enough && fit.count() < kEnoughSteps)) continue;
      if (picked == nullptr || fit.trust < picked->trust) {
        picked = &fit;
      } else if (fit.trust == picked->trust) {
        const bool better = enough ? fit.count() < picked->count() : fit.count() > picked->count();
        if (better || (fit.count() == picked->count() && fit.coverage > picked->coverage)) picked = &fit;
      }
    }
    return picked;
  }

  // The part before `begin` may be the first step's, and the part after `end` the last one's: a usual step of room.
  void Fill(uint64_t begin, uint64_t end, bool whole) {
    const std::vector<Fit> fits = FitsIn(begin, end);
    if (const Fit* fit = Pick(fits)) {
      if (const std::optional<Fit> first = FirstPart(fits, *fit, begin, end)) {
        Place({*first}, begin, end, true);
        return;
      }
      Place({*fit}, begin, end, whole);
      return;
    }
    std::vector<Fit> phases = PhasesAmong(fits);
    Place(phases, begin, end, false);
  }

  // Marks of something more trusted that divide the begin of the span into steps and then end for good: the training
  // before an evaluation that goes through its batches as the training did.
  std::optional<Fit> FirstPart(const std::vector<Fit>& fits, const Fit& picked, uint64_t begin, uint64_t end) const {
    std::optional<Fit> best;
    if (picked.trust <= MarkTrust::kAnyOptimizer) return best;
    for (const Fit& fit : fits) {
      if (fit.parted || fit.trust > MarkTrust::kAnyOptimizer) continue;
      if (best && best->trust <= fit.trust) continue;
      const uint64_t last = Last(fit);
      if (IsPartOfStep(fit, last, end)) continue;
      ChosenPhase part, rest;
      Measure(begin, last, &part);
      Measure(last, end, &rest);
      if (part.share() < kSmallestPhase || rest.share() < kSmallestRest) continue;
      if (FitOf(fit.candidate, fit.first, fit.end, begin, last).coverage < kCovers) continue;
      best = fit;
    }
    return best;
  }

  std::vector<Fit> PhasesAmong(std::vector<Fit> fits) const {
    // Of loose names that are equally frequent, the one that contains most: a training step, not what prepares it.
    const auto rank = [this](const Fit& fit) {
      return fit.most() * (fit.trust == MarkTrust::kLooseName ? .5 * (1 + candidates_[fit.candidate].held) : 1);
    };
    std::stable_sort(fits.begin(), fits.end(), [&](const Fit& a, const Fit& b) { return rank(a) > rank(b); });
    std::vector<Fit> phases;
    for (const Fit& fit : fits) {
      const bool named = !candidates_[fit.candidate].name.empty();
      // Too few steps are known to be too few; windows across them would tell less.
      const size_t fewest = fit.trust < MarkTrust::kPeriodicity ? kMinMarks : kEnoughSteps;
      if (fit.parted || fit.count() < fewest || fit.most() < (named ? kSmallestPhase : kSmallestUnnamedPhase)) continue;
      const bool apart = std::all_of(phases.begin(), phases.end(), [&](const Fit& other) {
        return Last(fit) <= First(other) || First(fit) >= Last(other);
      });
      if (apart) phases.push_back(fit);
    }
    std::sort(phases.begin(), phases.end(), [&](const Fit& a, const Fit& b) { return First(a) < First(b); });
    return phases;
  }

  uint64_t First(const Fit& fit) const { return candidates_[fit.candidate].times[fit.first]; }
  uint64_t Last(const Fit& fit) const { return candidates_[fit.candidate].times[fit.end - 1]; }

  // Puts phases and what lies between them in their order. `again`: what is left over is filled with other candidates.
  void Place(const std::vector<Fit>& phases, uint64_t begin, uint64_t end, bool again) {
    uint64_t at = begin;
    for (const Fit& fit : phases) {
      const uint64_t first = First(fit), last = Last(fit);
      // Before the first mark of a candidate may be its first step.
      if (!IsPartOfStep(fit, at, first)) Rest(at, first, again);
      ChosenPhase phase;
      phase.kind = ChosenPhase::Kind::kSteps;
      phase.candidate = fit.candidate;
      phase.first_mark = fit.first;
      phase.end_mark = fit.end;
      Measure(first, last, &phase);
      const Fit in_run = FitOf(fit.candidate, fit.first, fit.end, clock_.begin(), clock_.end());
      phase.coverage = in_run.coverage;
      choice_.phases.push_back(std::move(phase));
      at = last;
    }
    if (phases.empty() || !IsPartOfStep(phases.back(), at, end)) Rest(at, end, again && !phases.empty());
  }

  // Whether [begin, end) next to a phase is no longer than its longest steps.
  bool IsPartOfStep(const Fit& fit, uint64_t begin, uint64_t end) const {
    if (end <= begin) return true;
    const auto part = [&](const std::vector<double>& all) {
      return Usual(GapsOf(
          {all.begin() + static_cast<std::ptrdiff_t>(fit.first), all.begin() + static_cast<std::ptrdiff_t>(fit.end)}));
    };
    return clock_.Work(end) - clock_.Work(begin) <= kLongestGap * part(work_[fit.candidate]) &&
           clock_.Time(end) - clock_.Time(begin) <= kLongestGap * part(time_[fit.candidate]);
  }

  void Rest(uint64_t begin, uint64_t end, bool again) {
    ChosenPhase rest;
    Measure(begin, end, &rest);
    if (rest.share() < kSmallestRest) return Unjudged(std::move(rest));
    if (again && !FitsIn(begin, end).empty()) return Fill(begin, end, false);
    // Before the first step a job sets up, which grows as a rule: windows would tell nothing.
    const bool set_up = begin == 0 && end < clock_.end() &&
                        std::none_of(choice_.phases.begin(), choice_.phases.end(),
                                     [](const ChosenPhase& phase) { return phase.kind == ChosenPhase::Kind::kSteps; });
    if (set_up) return Unjudged(std::move(rest));
    rest.cuts = CutIntoWindows(clock_, begin, end);
    if (rest.cuts.empty()) return Unjudged(std::move(rest));
    rest.kind = ChosenPhase::Kind::kWindows;
    rest.coverage = rest.share();
    choice_.phases.push_back(std::move(rest));
  }

  void Unjudged(ChosenPhase rest) {
    if (rest.end > rest.begin) choice_.phases.push_back(std::move(rest));
  }

  void Measure(uint64_t begin, uint64_t end, ChosenPhase* phase) const {
    phase->begin = begin;
    phase->end = end;
    phase->work = clock_.Work(end) - clock_.Work(begin);
    phase->time = clock_.Time(end) - clock_.Time(begin);
  }

  // Neighbours that are not judged are one; without any steps or windows there is nothing to tell apart.
  void MergeUnjudged() {
    std::vector<ChosenPhase> merged;
    bool any = false;
    for (ChosenPhase& phase : choice_.phases) {
      any |= phase.kind != ChosenPhase::Kind::kUnjudged;
      if (!merged.empty() && phase.kind == ChosenPhase::Kind::kUnjudged && merged.back().kind == phase.kind) {
        Measure(merged.back().begin, phase.end, &merged.back());
      } else {
        merged.push_back(std::move(phase));
      }
    }
    choice_.phases = any ? std::move(merged) : std::vector<ChosenPhase>();
  }

  void FindRunnerUp() {
    const auto chosen = [&](size_t candidate) {
      return std::any_of(choice_.phases.begin(), choice_.phases.end(), [&](const ChosenPhase& phase) {
        return phase.kind == ChosenPhase::Kind::kSteps && phase.candidate == candidate;
      });
    };
    double best = 0.5;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (chosen(i) || candidates_[i].times.size() < kMinMarks) continue;
      const Fit fit = FitOf(i, 0, candidates_[i].times.size(), clock_.begin(), clock_.end());
      const bool alike =
          choice_.runner_up && fit.coverage == best && candidates_[i].trust < candidates_[*choice_.runner_up].trust;
      if (fit.coverage > best || alike) {
        best = fit.coverage;
        choice_.runner_up = i;
      }
    }
  }

  const std::vector<StepCandidate>& candidates_;
  const RunClock& clock_;
  std::vector<std::vector<double>> work_, time_;  // of each candidate's marks
  StepChoice choice_;
};

}  // namespace

double CoverageOf(const std::vector<double>& marks, double begin, double end, double longest_gap) {
  if (marks.size() < 2 || end <= begin) return 0;
  const double usual = Usual(GapsOf(marks));
  if (usual <= 0) return 0;
  const auto counted = [&](double gap, double longest) { return std::min(std::max(gap, 0.0), longest * usual); };
  double covered = counted(marks.front() - begin, kLongestGap) + counted(end - marks.back(), kLongestGap);
  for (size_t i = 1; i < marks.size(); ++i) covered += counted(marks[i] - marks[i - 1], longest_gap);
  return std::min(1.0, covered / (end - begin));
}

double JudgedShareOf(const std::vector<double>& marks, double begin, double end) {
  const std::vector<double> gaps = GapsOf(marks);
  const double usual = Usual(gaps);
  std::vector<double> lengths;
  size_t late = 0;
  for (size_t i = 0; i < gaps.size(); ++i) {
    if (gaps[i] <= kLongestGap * usual) continue;
    lengths.push_back(gaps[i]);
    late += 2 * i >= gaps.size();
  }
  const bool recur = lengths.size() >= kFewestLongGaps && 4 * late >= lengths.size() &&
                     4 * late <= 3 * lengths.size() &&
                     *std::max_element(lengths.begin(), lengths.end()) <= kLongestGap * Usual(lengths);
  return CoverageOf(marks, begin, end, recur ? INFINITY : kLongestGap);
}

std::vector<uint64_t> CutIntoWindows(const RunClock& clock, uint64_t begin, uint64_t end, WindowLimits limits) {
  if (limits.work > 0 && !clock.has_work()) return {};
  const double from = clock.Both(begin), to = clock.Both(end);
  const double work = (clock.Work(end) - clock.Work(begin)) * clock.work();
  const auto most = static_cast<double>(limits.most);
  const auto windows = static_cast<size_t>(limits.work > 0 ? std::min(most, work / limits.work) : most);
  if (windows < limits.fewest || to <= from) return {};
  std::vector<uint64_t> cuts;
  for (size_t i = 1; i < windows; ++i) {
    const uint64_t cut = clock.When(from + (to - from) * static_cast<double>(i) / static_cast<double>(windows));
    if (cut > begin && cut < end && (cuts.empty() || cut > cuts.back())) cuts.push_back(cut);
  }
  if (cuts.size() + 1 < limits.fewest) return {};
  return cuts;
}

StepChoice ChooseSteps(const std::vector<StepCandidate>& candidates, const RunClock& clock) {
  if (clock.empty()) return {};
  return Chooser(candidates, clock).Run();
}

}  // namespace vramtrack
