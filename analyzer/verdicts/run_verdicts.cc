// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/run_verdicts.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analyzer/leaks/bursts.h"
#include "analyzer/leaks/survivors.h"
#include "analyzer/verdicts/facts.h"

namespace vramtrack {
namespace {

// Lines that leak or may leak must explain this share of a ledger's growth, or it is looked for in larger units.
constexpr double kExplained = 0.5;
// What is left in the first steps is set-up.
constexpr Step kSetup = 2;

// The provider's own bookkeeping: memory that a framework's allocator divides holds what its blocks hold.
bool IsJudged(const Site& site) { return !IsSegmentSite(site) || IsGraphPool(site.key.kind); }

bool KeepsAfter(const SiteHistory& history, Step step) {
  return std::any_of(history.cohorts.begin(), history.cohorts.end(),
                     [step](const Cohort& cohort) { return cohort.step >= step && cohort.live_objects > 0; });
}

bool Leaks(const Judgement& judgement) { return judgement.certainty == Certainty::kLeak; }

// A finding is graver than another one.
int Gravity(Verdict verdict) {
  constexpr Verdict kByWeight[] = {Verdict::kInsufficientEvidence, Verdict::kSublinear, Verdict::kPhaseAccumulation,
                                   Verdict::kCycleGarbage,         Verdict::kOneTime,   Verdict::kSteady};
  if (IsLeak(verdict)) return -1;
  return static_cast<int>(std::find(std::begin(kByWeight), std::end(kByWeight), verdict) - std::begin(kByWeight));
}

class RunJudge {
 public:
  RunJudge(const ReplayedRun& run, std::vector<RunPhase> phases) : run_(run) { verdicts_.phases = std::move(phases); }

  RunVerdicts Run() {
    FindLines();
    verdicts_.lines.resize(lines_.size());
    for (size_t i = 0; i < verdicts_.phases.size(); ++i) {
      if (verdicts_.phases[i].kind != PlannedPhase::Kind::kUnjudged) JudgePhase(i);
    }
    ShareOut();
    const auto leaks = [](const LineVerdict& line) { return line.leaks(); };
    if (std::none_of(verdicts_.lines.begin(), verdicts_.lines.end(), leaks)) FindRarestLeak();
    return std::move(verdicts_);
  }

 private:
  const Sites& sites() const { return run_.ledger.sites(); }

  void FindRarestLeak() {
    Step longest = 0;
    for (const RunPhase& phase : verdicts_.phases) {
      if (phase.kind != PlannedPhase::Kind::kUnjudged) longest = std::max(longest, phase.steps.size());
    }
    verdicts_.rarest_leak = RarestLeak(longest, run_.prior);
  }

  void FindLines() {
    std::vector<SiteIndex> wanted;
    for (const SiteIndex site : sites().indices()) {
      if (run_.growth.BookOf(site) == GrowthLedger::kNoBook) continue;
      if (run_.growth.changes(site) > 0 || KeepsAfter(run_.histories.history(site), 0)) wanted.push_back(site);
    }
    lines_ = LinesOf(run_.ledger, run_.growth, wanted, run_.symbolizer);
  }

  void JudgePhase(size_t phase) {
    PhaseJudge judge(run_.ledger, run_.histories, run_.growth, verdicts_.phases[phase], run_.prior);
    double keepers = 0;
    for (const CodeLine& line : lines_) {
      keepers += KeepsAfter(judge.HistoryOf(Judged(line.sites), line.book), kSetup) ? 1 : 0;
    }
    judge.SetKeepers(keepers);
    std::vector<LineVerdict> found;
    for (const CodeLine& line : lines_) {
      LineVerdict verdict;
      verdict.line = line;
      verdict.phase = phase;
      JudgeLine(judge, &verdict);
      found.push_back(std::move(verdict));
    }
    for (uint32_t book = 0; book < run_.growth.books().size(); ++book) FindSpread(judge, book, &found);
    for (LineVerdict& verdict : found) verdict.verdict = NameOf(verdict);
    FactFinder facts(run_, verdicts_.phases);
    facts.LookAt(found);
    for (LineVerdict& verdict : found) ApplyFacts(facts, &verdict);
    for (size_t i = 0; i < found.size(); ++i) {
      LineVerdict& known = verdicts_.lines[i];
      const bool first = known.line.sites.empty();
      const auto left = [](const LineVerdict& one) {
        return one.judgement.rate.bytes_per_step * static_cast<double>(one.judgement.tested.size());
      };
      const int now = Gravity(found[i].verdict), before = Gravity(known.verdict);
      if (first || now < before || (now == before && now < 0 && left(found[i]) > left(known))) {
        known = std::move(found[i]);
      }
    }
  }

  std::vector<SiteIndex> Judged(const std::vector<SiteIndex>& all) const {
    std::vector<SiteIndex> judged;
    std::copy_if(all.begin(), all.end(), std::back_inserter(judged),
                 [this](SiteIndex site) { return IsJudged(sites()[site]); });
    return judged;
  }

  // The whole line; and its stacks, as some of them may hide what others do.
  void JudgeLine(const PhaseJudge& judge, LineVerdict* verdict) const {
    const uint32_t book = verdict->line.book;
    verdict->parts = Judged(verdict->line.sites);
    verdict->judgement = judge.Judge(verdict->parts, book);
    if (verdict->parts.size() < 2) return;
    std::vector<SiteIndex> leaking, suspect, clean;
    for (const SiteIndex site : verdict->parts) {
      const Judgement own = judge.Judge({site}, book);
      (Leaks(own) ? leaking : own.certainty == Certainty::kUnsure ? suspect : clean).push_back(site);
    }
    if (leaking.empty() && suspect.empty()) return;
    verdict->each = !verdict->judgement.replaced && suspect.empty() && clean.empty();
    std::vector<SiteIndex> some = leaking;
    if (Leaks(verdict->judgement) || leaking.empty()) some.insert(some.end(), suspect.begin(), suspect.end());
    if (some.size() == verdict->parts.size()) return;
    std::sort(some.begin(), some.end());
    Judgement of_some = judge.Judge(some, book);
    if (of_some.certainty < verdict->judgement.certainty) return;
    // Stacks that leave too little to be judged alone may leak together, too.
    if (Leaks(verdict->judgement) && Leaks(judge.Judge(clean, book))) return;
    verdict->each = !of_some.replaced && some == leaking;
    verdict->parts = std::move(some);
    verdict->judgement = std::move(of_some);
  }

  // What a ledger grows by, and no line by itself: in the smallest unit of code that surely grows. If there is none,
  // the line that grew most is a suspect.
  void FindSpread(const PhaseJudge& judge, uint32_t book, std::vector<LineVerdict>* lines) const {
    const Judgement& whole = judge.OfBook(book);
    if (!whole.growth.any || !whole.growth.posterior.is_leak(run_.prior) || whole.gain() <= 0) return;
    double explained = 0;
    std::vector<size_t> open;
    for (size_t i = 0; i < lines->size(); ++i) {
      if ((*lines)[i].line.book != book) continue;
      if ((*lines)[i].judgement.certainty == Certainty::kClean) {
        open.push_back(i);
      } else {
        explained += std::max(0.0, (*lines)[i].judgement.gain());
      }
    }
    if (explained >= kExplained * whole.gain() || open.empty()) return;
    const auto gains_more = [lines](size_t a, size_t b) {
      return (*lines)[a].judgement.gain() < (*lines)[b].judgement.gain();
    };
    for (const CodeUnit unit : {CodeUnit::kFunction, CodeUnit::kFile, CodeUnit::kModule}) {
      absl::flat_hash_map<uint64_t, std::vector<size_t>> by_unit;
      for (const size_t i : open) by_unit[(*lines)[i].line.key[static_cast<size_t>(unit)]].push_back(i);
      bool any = false;
      for (auto& [key, members] : by_unit) {
        if (members.size() < 2) continue;
        std::sort(members.begin(), members.end());
        std::vector<SiteIndex> parts;
        for (const size_t i : members) {
          const std::vector<SiteIndex> of = Judged((*lines)[i].line.sites);
          parts.insert(parts.end(), of.begin(), of.end());
        }
        std::sort(parts.begin(), parts.end());
        Judgement judgement = judge.Judge(parts, book);
        if (!Leaks(judgement) || judgement.replaced || judgement.gain() < kExplained * (whole.gain() - explained))
          continue;
        LineVerdict& first = (*lines)[*std::max_element(members.begin(), members.end(), gains_more)];
        first.unit = unit;
        first.parts = std::move(parts);
        first.each = false;
        first.judgement = std::move(judgement);
        any = true;
      }
      if (any) return;
    }
    LineVerdict& most = (*lines)[*std::max_element(open.begin(), open.end(), gains_more)];
    if (most.judgement.gain() <= 0) return;
    most.judgement.certainty = Certainty::kUnsure;
    most.judgement.replaced = most.judgement.growth.any;
    const double steps = most.judgement.window_steps.back() - most.judgement.window_steps.front();
    most.judgement.rate.bytes_per_step = most.judgement.gain() / std::max(1.0, steps);
    most.unit = CodeUnit::kModule;
  }

  Verdict NameOf(const LineVerdict& verdict) const {
    const Judgement& judgement = verdict.judgement;
    // What would not matter is not doubted.
    if (judgement.certainty == Certainty::kUnsure && vramtrack::IsMaterial(verdict, run_)) {
      return Verdict::kInsufficientEvidence;
    }
    if (Leaks(judgement)) {
      if (!vramtrack::IsMaterial(verdict, run_)) return Verdict::kMinorLeak;
      if (judgement.replaced) return Verdict::kGrowingBuffer;
      return judgement.accelerates ? Verdict::kAcceleratingLeak : Verdict::kLeak;
    }
    const bool filled = judgement.growth.any && (judgement.growth.posterior.alternative == Model::kFilled ||
                                                 judgement.growth.posterior.alternative == Model::kFilling);
    if (!judgement.survivors.any) return filled ? Verdict::kSublinear : NameOfFreed(judgement.history);
    switch (judgement.survivors.posterior.alternative) {
      case Model::kFilled:
      case Model::kFilling:
        return Verdict::kSublinear;
      case Model::kUnfreed:
        return NameOfFreed(judgement.history);
      default:
        return filled ? Verdict::kSublinear : Verdict::kOneTime;
    }
  }

  // Of a site or line that keeps nothing for longer than it kept what it freed.
  static Verdict NameOfFreed(const SiteHistory& history) {
    switch (FindBursts(history).pattern) {
      case DeathPattern::kPhases:
        return Verdict::kPhaseAccumulation;
      case DeathPattern::kCollector:
        return Verdict::kCycleGarbage;
      case DeathPattern::kNone:
        break;
    }
    return Verdict::kSteady;
  }

  // Gives each site its part of the verdict on its line.
  void ShareOut() {
    verdicts_.sites.resize(sites().size());
    for (uint32_t i = 0; i < verdicts_.lines.size(); ++i) {
      for (const SiteIndex site : verdicts_.lines[i].line.sites) {
        SiteVerdict& own = verdicts_.sites[site];
        own.line = i;
        own.verdict = IsJudged(sites()[site]) ? NameOfSite(site, verdicts_.lines[i]) : Verdict::kSteady;
      }
    }
    for (uint32_t i = 0; i < verdicts_.lines.size(); ++i) {
      if (verdicts_.lines[i].leaks() || verdicts_.lines[i].unsure()) ShareVerdict(i);
    }
    for (const SiteIndex site : sites().indices()) {
      if (verdicts_.sites[site].line == UINT32_MAX) {
        verdicts_.sites[site].verdict = NameOfFreed(run_.histories.history(site));
      }
    }
  }

  Verdict NameOfSite(SiteIndex site, const LineVerdict& line) const {
    const SiteHistory history = run_.histories.history(site);
    const Evidence evidence = EvidenceOfSurvivors(history, run_.ledger.steps().step());
    const Verdict freed = NameOfFreed(history);
    if (!evidence.any())
      return line.verdict == Verdict::kSublinear && history.live_objects() > 0 ? line.verdict : freed;
    if (freed != Verdict::kSteady && line.verdict != Verdict::kSublinear) return freed;
    return line.verdict == Verdict::kSublinear ? line.verdict : Verdict::kOneTime;
  }

  void ShareVerdict(uint32_t index) {
    const LineVerdict& line = verdicts_.lines[index];
    const Judgement& judgement = line.judgement;
    std::vector<double> shares;
    double sum = 0;
    for (const SiteIndex site : line.parts) {
      double share = 0;
      if (judgement.replaced) {
        share = GainOf(site, line);
      } else {
        const SurvivorTotal left = TotalOf(SurvivorsIn(run_.histories.history(site), judgement.leaking));
        share = static_cast<double>(judgement.rate.bytes_per_step > 0 ? left.bytes : left.objects);
      }
      shares.push_back(share);
      sum += share;
    }
    for (size_t i = 0; i < line.parts.size(); ++i) {
      // Of a buffer that several stacks hold in turn, all are parts.
      const double share = sum > 0 ? shares[i] / sum : 1.0 / static_cast<double>(line.parts.size());
      if (share <= 0) continue;
      SiteVerdict& own = verdicts_.sites[line.parts[i]];
      own.line = index;
      own.verdict = line.verdict;
      own.rate_bytes_per_step = share * judgement.rate.bytes_per_step;
      own.rate_objects_per_step = share * judgement.rate.objects_per_step;
      own.rate_ci_low = share * judgement.rate.bytes_interval.low;
      own.rate_ci_high = share * judgement.rate.bytes_interval.high;
      if (line.leaks() && judgement.onset) own.onset_step = judgement.leaking.begin;
      own.tested = judgement.tested;
      own.leaking = judgement.leaking;
      own.longest_life = judgement.longest_life;
      own.replaced = judgement.replaced;
      own.joint = line.parts.size() > 1 && !line.each;
      own.period = judgement.rate.period;
    }
  }

  // What a site held more at the last quiet moment than at the first.
  double GainOf(SiteIndex site, const LineVerdict& line) const {
    const std::vector<HeldLevel> levels = run_.growth.LevelsOf(site);
    const std::vector<Step>& windows = line.judgement.window_steps;
    if (levels.empty() || windows.empty()) return 0;
    const std::vector<Step> steps = run_.growth.LevelsOf(line.line.book).steps;
    const auto at = [&](Step step) {
      const HeldLevel& level =
          levels[static_cast<size_t>(std::lower_bound(steps.begin(), steps.end(), step) - steps.begin())];
      return static_cast<double>(run_.growth.books()[line.line.book].in_bytes() ? level.bytes : level.objects);
    };
    return std::max(0.0, at(windows.back()) - at(windows.front()));
  }

  const ReplayedRun& run_;
  std::vector<CodeLine> lines_;
  RunVerdicts verdicts_;
};

}  // namespace

RunVerdicts JudgeRun(const ReplayedRun& run, std::vector<RunPhase> phases) {
  return RunJudge(run, std::move(phases)).Run();
}

bool IsMaterial(const LineVerdict& verdict, const ReplayedRun& run) {
  const Book& book = run.growth.books()[verdict.line.book];
  return IsMaterial(verdict.judgement.rate, run.horizon_steps,
                    book.of == Book::Of::kDevice ? run.ledger.DeviceBytes(book.device) : 0);
}

}  // namespace vramtrack
