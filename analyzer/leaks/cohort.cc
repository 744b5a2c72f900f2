// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/cohort.h"

#include <algorithm>
#include <cmath>

#include "analyzer/leaks/explanation.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/leaks/rhythm.h"

namespace vramtrack {
namespace {

// Fewer objects than this are a handful of one-offs.
constexpr uint64_t kMinSurvivors = 5;
// Fewer steps with survivors than this are not even worth waiting for more.
constexpr uint64_t kSuspiciousSteps = 4;
constexpr uint32_t kMinWindows = 3;
constexpr double kOccupiedShare = 0.75;
// Significantly fewer births later on, two-sided 5 %.
constexpr double kFadingTrend = -1.96;
// What fades so much does not do so by chance, one-sided 0.1 %. Three tests at 5 % find that one in twelve leaks fades
// whose steps with survivors are random.
constexpr double kSurelyFading = -3;
// A later half that leaves more and more is no end of a cache.
constexpr double kRisingAgain = 1;
// A pause that is less likely by chance than this is an end.
constexpr double kChanceOfPause = 0.01;
// The accidental survivors of a harmless site, over the whole tested span. A site with k of them in k steps is as
// likely as k or more events of a Poisson process with this mean.
constexpr double kAccidentalSurvivors = 1;
// A cache takes what is rare ever more rarely, and while it is young that hardly shows: whatever leaves less in some
// steps than in most may be one that fills. With the first of these numbers of steps nothing tells the two apart; up to
// the second, ever less of a trend downwards is enough to doubt a leak, from none at all to a significant one.
constexpr double kStepsWithoutTrend = 48, kStepsWithTrend = 96;
constexpr double kDoubtfulTrend = -1.645;
// With more steps a decline by less than this is no reason to doubt a leak.
constexpr double kDoubtfulRatio = 0.95;
// Where windows stand for steps, a rate must grow so much before a leak is said to accelerate.
constexpr double kAcceleratingWindows = 2;
// What is left after all that was left before was freed at once may be freed at once as well, unless so many times
// older. A garbage collector's first gap can be much shorter than the next ones.
constexpr uint64_t kClearlyOlder = 10;
// So many freed objects, or such a share of them, may have lived much longer than the others.
constexpr uint64_t kFewOutliers = 2;
constexpr double kOutlierShare = 0.01;
// A rhythm that varies is not carried on for more than so many times the run.
constexpr uint64_t kFarthest = 20;
// A rhythm that has not become a leak after so many of its longest gaps, and steps, is not going to.
constexpr uint64_t kGapsToWait = 200, kStepsToWait = 200;
// Of a rhythm that varies, in how many orders its gaps are tried: each of them has to end as a leak.
constexpr uint64_t kOrders = 5;

// The first step of warm-up that can tell a cache from a leak: before it, a job allocates what it keeps.
constexpr Step kSetupSteps = 2;

class Judge {
 public:
  Judge(const SiteHistory& history, const RunShape& run, const SiteContext& context, JudgeDetail detail)
      : history_(history), run_(run), context_(context), detail_(detail) {}

  LeakVerdict Run() {
    Measure();
    verdict_.verdict = Decide();
    if (verdict_.verdict == Verdict::kInsufficientEvidence && detail_ == JudgeDetail::kWhole) FindFurtherSteps();
    if (!IsLeak(verdict_.verdict)) verdict_.onset_step.reset();
    if (detail_ == JudgeDetail::kWhole) verdict_.explanation = Explain(verdict_, history_, run_, context_);
    const bool forever = verdict_.verdict == Verdict::kInsufficientEvidence && verdict_.further_steps_needed == 0;
    if (detail_ == JudgeDetail::kWhole && forever && verdict_.doubt.empty()) {
      verdict_.doubt = WhyUnjudged(verdict_, history_, run_, context_);
    }
    return verdict_;
  }

 private:
  LeakEvidence& evidence() { return verdict_.evidence; }

  void Measure() {
    LeakEvidence& e = evidence();
    e.max_lifetime_steps = history_.max_completed_lifetime_steps;
    e.censor_margin = CensorMargin(e.max_lifetime_steps);
    e.tested = TestedSpan(run_, e.max_lifetime_steps);
    e.leaking = e.tested;
    e.survivors_before = TotalOf(SurvivorsIn(history_, {0, run_.warmup_end})).objects;
    e.bursts = FindBursts(history_);
    series_ = SurvivorsIn(history_, e.tested);
    e.survivors = TotalOf(series_);
  }

  Verdict Decide() {
    if (evidence().tested.size() < kMinTestedSteps) return WithTooFewSteps();
    if (evidence().survivors.objects == 0) return WithoutSurvivors();
    MeasureGrowth();
    if (!StillGrowing()) return Stopped();
    if (context_.segments == SegmentRole::kFrameworkGrowing) return Verdict::kSteady;
    if (context_.segments == SegmentRole::kFrameworkFlat && evidence().survivors.steps >= kSuspiciousSteps) {
      // Steady or in stairs: what the allocator keeps and cannot use is one finding.
      return Verdict::kFragmentationGrowth;
    }
    if (!Steadily()) return NowAndThen();
    if (evidence().trend.trend == Trend::kDecelerating) return SurelyFades() ? Verdict::kSublinear : AsItMayBeFilling();
    if (MayBeFilling()) return AsItMayBeFilling();
    if (MayBeFreedAtOnce()) return AsItMayBeFreedAtOnce();
    if (evidence().leaking.begin > evidence().tested.begin) verdict_.onset_step = evidence().leaking.begin;
    if (!IsMaterial(rate_, run_)) return Verdict::kMinorLeak;
    return evidence().trend.trend == Trend::kAccelerating ? Verdict::kAcceleratingLeak : Verdict::kLeak;
  }

  // Survivors that are no older than freed objects became say nothing. Older ones, or several with nothing freed to
  // compare them with, are a reason to wait for more steps.
  Verdict WithTooFewSteps() {
    if (run_.steps == 0 && context_.allocations > 0 && context_.allocations < kFewestRepeats) return Verdict::kOneTime;
    verdict_.further_steps_needed = std::max<Step>(1, FurtherStepsNeeded(run_, evidence().max_lifetime_steps));
    // Before its third step a job has not shown what it does twice.
    const bool hardly_begun = run_.steps <= kSetupSteps;
    if (hardly_begun && (run_.steps == 0 || history_.live_objects() > 0)) return Verdict::kInsufficientEvidence;
    const Step ordinary_age = std::max<Step>(1, evidence().max_lifetime_steps);
    uint64_t old_survivor_steps = 0;
    for (const Cohort& cohort : history_.cohorts) {
      if (cohort.live_objects == 0 || cohort.step == 0 || cohort.step + ordinary_age >= run_.steps) continue;
      // Of a run longer than its warm-up, what warm-up left says nothing.
      if (cohort.step < run_.warmup_end && run_.steps > run_.warmup_end + ordinary_age) continue;
      ++old_survivor_steps;
    }
    if (old_survivor_steps > 0 || OlderThanUsual()) return Verdict::kInsufficientEvidence;
    verdict_.further_steps_needed = 0;
    return WithoutSurvivors();
  }

  // Many live objects are older than freed objects became but for a few of them. Those few, such as what a thread held
  // while it waited, do not make the others ordinary.
  bool OlderThanUsual() const {
    const uint64_t few =
        std::max(kFewOutliers, static_cast<uint64_t>(kOutlierShare * static_cast<double>(history_.died_objects)));
    uint64_t outliers = 0;
    size_t bin = history_.completed_lifetimes.size();
    while (bin > 0 && outliers + history_.completed_lifetimes[bin - 1] <= few) {
      outliers += history_.completed_lifetimes[--bin];
    }
    if (outliers == 0 || bin == 0) return false;
    const uint64_t usual = bin == 1 ? 0 : (uint64_t{1} << (bin - 1)) - 1;
    if (usual >= verdict_.evidence.max_lifetime_steps) return false;
    const Step margin = CensorMargin(static_cast<uint32_t>(usual));
    uint64_t older = 0;
    for (const Cohort& cohort : history_.cohorts) {
      older += cohort.live_objects > 0 && cohort.step >= run_.warmup_end && cohort.step + margin < run_.steps;
    }
    return older >= kMinSurvivors && older > 2 * outliers;
  }

  Verdict WithoutSurvivors() const {
    switch (verdict_.evidence.bursts.pattern) {
      case DeathPattern::kPhases:
        return Verdict::kPhaseAccumulation;
      case DeathPattern::kCollector:
        return Verdict::kCycleGarbage;
      case DeathPattern::kNone:
        break;
    }
    return verdict_.evidence.survivors_before > 0 ? Verdict::kOneTime : Verdict::kSteady;
  }

  void MeasureGrowth() {
    LeakEvidence& e = evidence();
    const Onset onset = FindOnset(series_, e.tested);
    rate_ = EstimateRate(series_, onset, e.max_lifetime_steps, detail_ == JudgeDetail::kWhole);
    verdict_.rate_bytes_per_step = rate_.bytes_per_step;
    verdict_.rate_objects_per_step = rate_.objects_per_step;
    verdict_.rate_ci_low = rate_.bytes_interval.low;
    verdict_.rate_ci_high = rate_.bytes_interval.high;
    e.period = rate_.period;
    e.leaking = onset.span;

    const uint32_t windows = std::clamp<uint32_t>(e.leaking.size() / 2, 1, kWindows);
    windows_ = WindowTotals(series_, e.leaking, windows);
    StepSpan judged = e.leaking;
    if (!onset.within_tested) {
      // A gap at the beginning that is too short to be an onset for sure is left out all the same.
      size_t empty = 0;
      while (empty < windows_.size() && windows_[empty].objects == 0) ++empty;
      windows_.erase(windows_.begin(), windows_.begin() + static_cast<std::ptrdiff_t>(empty));
      judged.begin += static_cast<Step>(static_cast<uint64_t>(empty) * judged.size() / windows);
    }
    e.windows = static_cast<uint32_t>(windows_.size());
    e.windows_with_survivors = static_cast<uint32_t>(
        std::count_if(windows_.begin(), windows_.end(), [](const SurvivorTotal& w) { return w.objects > 0; }));

    run_span_ = onset.within_tested ? e.leaking : StepSpan{kSetupSteps, e.tested.end};
    run_series_ = SurvivorsIn(history_, run_span_);
    e.trend = JudgeTrend(Within(series_, judged), judged, windows_, run_series_, run_span_);
    // Windows are alike in their work, but what a program does in them is not.
    if (run_.windows && e.trend.trend == Trend::kAccelerating && e.trend.late_to_early.bytes < kAcceleratingWindows) {
      e.trend.trend = Trend::kConstant;
    }
    e.occurrences = static_cast<double>(Within(series_, e.leaking).size());
    verdict_.p_value = PoissonTail(kAccidentalSurvivors, Within(series_, e.leaking).size());
  }

  bool StillGrowing() const {
    const std::vector<SurvivorTotal> windows = WindowTotals(series_, verdict_.evidence.tested, kWindows);
    return windows[kWindows - 1].objects > 0 || windows[kWindows - 2].objects > 0;
  }

  // Survivors in so many windows that they are the rule, and enough of them.
  bool Steadily() const {
    const LeakEvidence& e = verdict_.evidence;
    return e.survivors.objects >= kMinSurvivors && e.windows >= kMinWindows &&
           e.windows_with_survivors >= std::ceil(kOccupiedShare * e.windows);
  }

  // Some steps left fewer objects than most did, as if a cache had had the others already.
  bool FallsShort() const {
    const StepSpan span = verdict_.evidence.leaking;
    std::vector<uint32_t> numbers(span.size(), 0);
    for (const Survivors& at : Within(series_, span)) numbers[at.step - span.begin] = at.objects;
    std::sort(numbers.begin(), numbers.end());
    return !numbers.empty() && (numbers.front() == 0 || numbers.front() < numbers[numbers.size() / 2]);
  }

  bool MayBeFilling() const {
    const LeakEvidence& e = verdict_.evidence;
    if (e.period.steps > 0 || !FallsShort()) return false;
    const double past = (e.leaking.size() - kStepsWithoutTrend) / (kStepsWithTrend - kStepsWithoutTrend);
    if (past >= 1 && e.trend.late_to_early.objects >= kDoubtfulRatio) return false;
    return past <= 0 || e.trend.lean_of_run < kDoubtfulTrend * std::min(1.0, past);
  }

  // A trend down that chance does not make, whatever bursts births come in, and of a cache's kind, which takes less
  // from its beginning on. What leaves less since the job's work changed once is no cache.
  bool SurelyFades() const {
    const LeakEvidence& e = verdict_.evidence;
    const double spread = std::sqrt(e.trend.overdispersion);
    // Objects of one step may have one cause, so each step counts once.
    if (std::min(e.trend.lean_of_run, LaplaceTrend(series_, e.leaking, /*by_steps=*/true)) >= kSurelyFading * spread) {
      return false;
    }
    const Step middle = run_span_.begin + run_span_.size() / 2;
    return TrendOfRun(run_series_, {run_span_.begin, middle}) < kDoubtfulTrend * spread &&
           TrendOfRun(run_series_, {middle, run_span_.end}) < kRisingAgain;
  }

  Verdict AsItMayBeFilling() {
    evidence().may_be_filling = true;
    return Verdict::kInsufficientEvidence;
  }

  bool MayBeFreedAtOnce() const {
    const SurvivorSeries all = SurvivorsIn(history_, {0, verdict_.evidence.tested.end});
    if (all.empty()) return false;
    return run_.steps - all.front().step < kClearlyOlder * AgeWhenAllWereFreed(history_, all.front().step);
  }

  Verdict AsItMayBeFreedAtOnce() {
    evidence().may_be_freed_at_once = true;
    return Verdict::kInsufficientEvidence;
  }

  bool Fading() const {
    return run_series_.size() >= kSuspiciousSteps &&
           verdict_.evidence.trend.lean_of_run < kFadingTrend * std::sqrt(verdict_.evidence.trend.overdispersion);
  }

  Verdict Stopped() {
    const bool grew = verdict_.evidence.survivors.steps >= kMinSurvivors;
    if (grew && MayPauseByChance() && !SurelyFades()) return AsItMayBeFilling();
    if (grew || (Fading() && !BeatsOn())) return Verdict::kSublinear;
    return IsSuspicious() ? Verdict::kInsufficientEvidence : Verdict::kOneTime;
  }

  // As many steps with survivors, spread at random, leave out the end of the judged steps this often.
  bool MayPauseByChance() const {
    const LeakEvidence& e = verdict_.evidence;
    const double until = series_.back().step + 1 - e.leaking.begin;
    const double independent = static_cast<double>(Within(series_, e.leaking).size()) / e.trend.overdispersion;
    return std::pow(until / e.leaking.size(), independent) > kChanceOfPause;
  }

  // After what warm-up left, ever the same gap.
  bool BeatsOn() const { return IsRegular(RhythmOf(history_, run_, verdict_.evidence.tested.end)); }

  // Few steps have left something, but all that should have if it goes on like this. What would not matter is let be,
  // and so are a few segments: what lies in them is judged by itself.
  bool IsSuspicious() {
    if (context_.segments != SegmentRole::kNone) return false;
    const Rhythm rhythm = RhythmOf(history_, run_, verdict_.evidence.tested.end);
    if (!GoesOn(rhythm)) return false;
    const SurvivorTotal total = TotalOf(rhythm.survivors);
    Rate rate;
    rate.bytes_per_step = static_cast<double>(total.bytes) / rhythm.end;
    rate.objects_per_step = static_cast<double>(total.objects) / rhythm.end;
    return IsMaterial(rate, run_);
  }

  // After how many more steps the verdict is a leak if the rhythm goes on: found by judging what there would be then.
  void FindFurtherSteps() {
    const Rhythm rhythm = RhythmOf(history_, run_, verdict_.evidence.tested.end);
    if (rhythm.survivors.empty()) return;
    const bool regular = IsRegular(rhythm);
    const auto leaks_after = [&](uint64_t steps) {
      const RunShape run = Extended(run_, static_cast<Step>(steps));
      for (uint64_t order = 0; order < (regular ? 1 : kOrders); ++order) {
        const SiteHistory history = Extended(history_, rhythm, run.steps, order);
        if (!IsLeak(Judge(history, run, context_, JudgeDetail::kVerdict).Run().verdict)) return false;
      }
      return true;
    };
    uint64_t longest = std::max<Step>(rhythm.survivors[0].step, rhythm.end - rhythm.survivors.back().step);
    for (size_t i = 1; i < rhythm.survivors.size(); ++i) {
      const Step gap = rhythm.survivors[i].step - rhythm.survivors[i - 1].step;
      longest = i == 1 ? gap : std::max<uint64_t>(longest, gap);
    }
    uint64_t no = run_.steps, yes = 0;
    const uint64_t most = std::min<uint64_t>(UINT32_MAX / 2, no + kStepsToWait + kGapsToWait * longest);
    for (uint64_t further = 1; yes == 0 && no < most; further *= 2) {
      const uint64_t tried = std::min(run_.steps + further, most);
      (leaks_after(tried) ? yes : no) = tried;
    }
    if (yes == 0) return;
    while (yes - no > 1) {
      const uint64_t middle = no + (yes - no) / 2;
      (leaks_after(middle) ? yes : no) = middle;
    }
    if (!regular && yes - run_.steps > kFarthest * run_.steps) {
      verdict_.further_steps_needed = 0;
      verdict_.doubt = "a site keeps something now and then, too seldom to say whether it goes on";
      return;
    }
    verdict_.further_steps_needed = static_cast<Step>(yes - run_.steps);
  }

  Verdict NowAndThen() {
    if (Fading() && !BeatsOn()) return Verdict::kSublinear;
    if (evidence().survivors.steps < kSuspiciousSteps && !IsSuspicious()) return Verdict::kOneTime;
    return Verdict::kInsufficientEvidence;
  }

  const SiteHistory& history_;
  const RunShape& run_;
  const SiteContext& context_;
  const JudgeDetail detail_;
  LeakVerdict verdict_;
  SurvivorSeries series_;      // in the tested span
  StepSpan run_span_;          // warm-up included, or from the onset
  SurvivorSeries run_series_;  // in that span
  std::vector<SurvivorTotal> windows_;
  Rate rate_;
};

}  // namespace

LeakVerdict JudgeSite(const SiteHistory& history, const RunShape& run, const SiteContext& context, JudgeDetail detail) {
  LeakVerdict verdict = Judge(history, run, context, detail).Run();
  if (detail == JudgeDetail::kWhole || !IsLeak(verdict.verdict)) return verdict;
  return Judge(history, run, context, JudgeDetail::kWhole).Run();
}

void DemoteChanceFindings(std::vector<LeakVerdict>* verdicts, double false_discovery_rate) {
  std::vector<double> p_values;
  p_values.reserve(verdicts->size());
  for (const LeakVerdict& verdict : *verdicts) p_values.push_back(IsLeak(verdict.verdict) ? verdict.p_value : 1);
  const std::vector<bool> confirmed = BenjaminiHochberg(p_values, false_discovery_rate);
  for (size_t i = 0; i < verdicts->size(); ++i) {
    LeakVerdict& verdict = (*verdicts)[i];
    if (!IsLeak(verdict.verdict) || confirmed[i]) continue;
    verdict.verdict = Verdict::kInsufficientEvidence;
    verdict.onset_step.reset();
    // So many occurrences that as many sites do not come to them by chance.
    const double occurrences = std::max(1.0, verdict.rate_objects_per_step > 0 ? verdict.evidence.occurrences : 1.0);
    double needed = occurrences + 1;
    while (PoissonTail(kAccidentalSurvivors, static_cast<unsigned long long>(needed)) *
               static_cast<double>(verdicts->size()) >
           false_discovery_rate) {
      ++needed;
    }
    verdict.further_steps_needed =
        std::max<Step>(1, static_cast<Step>(verdict.evidence.leaking.size() * (needed / occurrences - 1)));
    verdict.explanation += "; among " + std::to_string(verdicts->size()) +
                           " sites that is within what chance does, about " +
                           std::to_string(verdict.further_steps_needed) + " more steps are needed";
  }
}

}  // namespace vramtrack
