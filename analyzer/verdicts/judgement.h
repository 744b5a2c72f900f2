// SPDX-License-Identifier: Apache-2.0
//
// Judges what some call stacks leave behind in one phase of a run. Two kinds of evidence go to the same model: which
// objects survived, and what the stacks held together at the quietest moment of each step. The first shows what is
// kept, however noisy the rest is; the second shows growth, however often its objects are replaced.
#ifndef ANALYZER_VERDICTS_JUDGEMENT_H_
#define ANALYZER_VERDICTS_JUDGEMENT_H_

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/leaks/posterior.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/ledger/growth_ledger.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/site_histories.h"
#include "analyzer/verdicts/run_phases.h"

namespace vramtrack {

enum class Certainty : uint8_t { kClean, kUnsure, kLeak };

// Evidence with what the model makes of it.
struct Weighed {
  Evidence evidence;
  Posterior posterior;
  double log_odds = -1e9;  // of a leak
  bool any = false;        // there was something to judge
};

struct Judgement {
  Certainty certainty = Certainty::kClean;
  bool accelerates = false;  // a leak of survivors whose rate grows
  bool by_growth = false;    // what was held at quiet moments decided
  bool replaced = false;     // so did it, and objects are replaced by larger ones, or by more of them
  Weighed survivors, growth;
  // The following are of the evidence that decided. Steps are indices into all steps of the run.
  StepSpan tested, leaking;  // the steps that were judged; from the first one on that leaks
  bool onset = false;        // the leak began at `leaking.begin`, not before
  SurvivorTotal left;        // in `leaking`
  Rate rate;                 // per step
  Step longest_life = 0;     // of objects that were freed
  // Levels at the quiet moments of windows of equal length after warm-up.
  std::vector<uint64_t> windows, window_objects;
  std::vector<Step> window_steps;
  int rises = 0, falls = 0;
  double gain() const {
    return windows.empty() ? 0 : static_cast<double>(windows.back()) - static_cast<double>(windows.front());
  }
  // Returns whether most of the growth is of larger objects, not of more of them.
  bool by_size() const;
  SiteHistory history;  // of the phase

  const Weighed& decisive() const { return replaced ? growth : survivors; }
  double log_odds() const { return by_growth || replaced ? growth.log_odds : survivors.log_odds; }
};

// Returns the quietest of `levels` in each of at most twelve windows of equal length after the first `warmup` of them.
std::vector<size_t> QuietMoments(const std::vector<uint64_t>& levels, size_t warmup);

// Pools and judges sites in one phase. `replays` must outlive it. Thread-compatible.
class PhaseJudge {
 public:
  PhaseJudge(const Ledger& ledger, const SiteHistories& histories, const GrowthLedger& growth, const RunPhase& phase,
             const Prior& prior = {});

  // States how many lines keep something after set-up; see JudgeEvidence.
  void SetKeepers(double keepers) { keepers_ = keepers; }

  const RunPhase& phase() const { return phase_; }
  // Returns what the sites did in the phase, as if they were one.
  SiteHistory HistoryOf(const std::vector<SiteIndex>& sites, uint32_t book) const;
  // Returns what they held at the quiet moments of the phase.
  std::vector<HeldLevel> LevelsOf(const std::vector<SiteIndex>& sites, uint32_t book) const;
  // Judges sites of one book together.
  Judgement Judge(const std::vector<SiteIndex>& sites, uint32_t book) const;
  // Returns the judgement of everything in the book: only `growth` and what follows from it is set.
  const Judgement& OfBook(uint32_t book) const { return books_[book].judgement; }

 private:
  struct OfPhase {
    Step bin_steps = 1;
    size_t first = 0;           // index of the first moment of the phase
    std::vector<Step> steps;    // of the quiet moments in the phase
    std::vector<size_t> quiet;  // the quietest of them in each window
    Judgement judgement;
  };

  Weighed WeighSurvivors(const SiteHistory& history) const;
  Weighed WeighGrowth(const std::vector<uint64_t>& levels, Step bin_steps) const;
  bool HasStopped(const Weighed& growth) const;
  void Decide(uint32_t book, Judgement* judgement) const;
  void Measure(uint32_t book, Judgement* judgement) const;
  static void AddWindows(const std::vector<uint64_t>& levels, const OfPhase& book, Judgement* judgement);

  const Ledger& ledger_;
  const SiteHistories& histories_;
  const GrowthLedger& growth_;
  const RunPhase phase_;
  const Prior prior_;
  std::vector<OfPhase> books_;
  double keepers_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_VERDICTS_JUDGEMENT_H_
