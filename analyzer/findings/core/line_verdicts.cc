// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/line_verdicts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/leaks/evidence.h"
#include "analyzer/leaks/rate.h"

namespace vramtrack {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
const double kBound = std::log(20.0);
bool Debug() { static const bool d = std::getenv("VRAMTRACK_DEBUG_LINES") != nullptr; return d; }

struct Judged {
  double log_odds = kNone;
  Posterior posterior;
  Evidence evidence;
  bool any = false;
};

Judged JudgeSurvivors(const SiteHistory& history, Step steps, double keepers) {
  Judged judged;
  judged.evidence = EvidenceOfSurvivors(history, steps);
  if (!judged.evidence.any()) return judged;
  judged.any = true;
  judged.posterior = JudgeEvidence(judged.evidence, keepers);
  judged.log_odds = judged.posterior.log_odds;
  if (judged.log_odds > -4) {
    const Posterior once = JudgeEvidence(OncePerStep(judged.evidence), keepers);
    judged.log_odds = std::min(judged.log_odds, once.log_odds);
  }
  return judged;
}

Judged JudgeGrowth(const std::vector<uint64_t>& levels) {
  Judged judged;
  judged.evidence = EvidenceOfGrowth(levels);
  if (!judged.evidence.any()) return judged;
  judged.any = true;
  judged.posterior = JudgeEvidence(judged.evidence);
  judged.log_odds = judged.posterior.log_odds;
  return judged;
}

// The quietest bins of windows of equal length after warm-up.
std::vector<size_t> Quiet(const std::vector<uint64_t>& floors, size_t warmup) {
  const size_t n = floors.size();
  const size_t windows = std::clamp<size_t>(n > warmup ? (n - warmup) / 5 : 0, 2, 12);
  std::vector<size_t> quiet;
  if (n <= warmup) return quiet;
  const size_t width = std::max<size_t>(1, (n - warmup) / windows);
  for (size_t begin = warmup; begin + width <= n; begin += width) {
    quiet.push_back(static_cast<size_t>(std::min_element(floors.begin() + begin, floors.begin() + begin + width) - floors.begin()));
  }
  return quiet;
}

SiteHistory PartOf(const SiteHistory& history, StepSpan steps) {
  SiteHistory part = history;
  part.cohorts.clear();
  for (const Cohort& cohort : history.cohorts) {
    if (cohort.step < steps.begin || cohort.step >= steps.end) continue;
    part.cohorts.push_back(cohort);
    part.cohorts.back().step -= steps.begin;
  }
  part.deaths.clear();
  for (const Deaths& deaths : history.deaths) {
    if (deaths.step < steps.begin || deaths.step >= steps.end) continue;
    part.deaths.push_back(deaths);
    part.deaths.back().step -= steps.begin;
  }
  const auto back = [&](Step s) { return s > steps.begin ? s - steps.begin : 0; };
  part.first_birth = back(std::max(history.first_birth, steps.begin));
  part.last_birth = back(std::min(history.last_birth, steps.end));
  return part;
}

}  // namespace

std::vector<LineVerdict> JudgeLines(const LineRun& run, SiteVerdicts* verdicts, IndexedVector<SiteIndex, size_t>* phase_of_site) {
  const Sites& sites = run.ledger.sites();
  std::vector<SiteIndex> wanted;
  for (const SiteIndex i : sites.indices()) {
    if (run.growth.BookOf(i) == GrowthLedger::kNoBook) continue;
    const SiteHistory h = run.histories.history(i);
    bool keeps = false;
    for (const Cohort& c : h.cohorts) keeps |= c.live_objects > 0;
    if (keeps || run.growth.changes(i) > 0) wanted.push_back(i);
  }
  std::vector<CodeLine> lines = LinesOf(run.ledger, run.growth, wanted, run.symbolizer);
  std::vector<RunPhase> phases = run.phases;
  if (phases.empty()) {
    RunPhase whole;
    whole.steps = {0, run.shape.steps};
    whole.warmup_end = run.shape.warmup_end;
    whole.kind = run.shape.windows ? PlannedPhase::Kind::kWindows : PlannedPhase::Kind::kSteps;
    phases.push_back(whole);
  }
  std::vector<LineVerdict> result;
  // Everything is steady unless its line says otherwise.
  for (const SiteIndex i : sites.indices()) {
    LeakVerdict v;
    v.verdict = Verdict::kSteady;
    v.explanation = "steady";
    (*verdicts)[i] = v;
  }
  std::vector<BookLevels> books;
  for (uint32_t b = 0; b < run.growth.books().size(); ++b) books.push_back(run.growth.LevelsOf(b));
  // histories
  std::vector<SiteHistory> histories(lines.size());
  std::vector<std::vector<HeldLevel>> levels(lines.size());
  double keepers = 0;
  for (size_t l = 0; l < lines.size(); ++l) {
    const bool handles = run.growth.books()[lines[l].book].of == Book::Of::kHandles;
    for (const SiteIndex i : lines[l].sites) {
      SiteHistory h = run.histories.history(i);
      if (IsSegmentSite(sites[i]) && sites[i].key.kind != schema::GRAPH_POOL) continue;
      if (handles) h = WithoutBytes(std::move(h));
      histories[l] = Merged(histories[l], h);
      const std::vector<HeldLevel> more = run.growth.LevelsOf(i);
      if (levels[l].size() < more.size()) levels[l].resize(more.size());
      for (size_t k = 0; k < more.size(); ++k) {
        levels[l][k].bytes += more[k].bytes;
        levels[l][k].objects += more[k].objects;
      }
    }
    bool keeps = false;
    for (const Cohort& c : histories[l].cohorts) keeps |= c.step >= 2 && c.live_objects > 0;
    keepers += keeps;
  }
  for (size_t p = 0; p < phases.size(); ++p) {
    const RunPhase& phase = phases[p];
    if (phase.kind == PlannedPhase::Kind::kUnjudged) continue;
    const Step steps = phase.steps.size();
    std::map<uint32_t, std::pair<Judged, std::vector<uint64_t>>> book_judged;
    for (uint32_t b = 0; b < books.size(); ++b) {
      std::vector<uint64_t> floors;
      for (size_t k = 0; k < books[b].steps.size(); ++k) {
        if (books[b].steps[k] >= phase.steps.begin && books[b].steps[k] < phase.steps.end) floors.push_back(books[b].of_book[k]);
      }
      book_judged[b] = {JudgeGrowth(floors), floors};
    }
    for (size_t l = 0; l < lines.size(); ++l) {
      const CodeLine& line = lines[l];
      const BookLevels& book = books[line.book];
      const SiteHistory history = PartOf(histories[l], phase.steps);
      std::vector<uint64_t> low;
      for (size_t k = 0; k < levels[l].size(); ++k) {
        if (book.steps[k] < phase.steps.begin || book.steps[k] >= phase.steps.end) continue;
        low.push_back(run.growth.books()[line.book].in_bytes() ? levels[l][k].bytes : levels[l][k].objects);
      }
      const Judged s = JudgeSurvivors(history, steps, keepers);
      const auto& [dev, floors] = book_judged[line.book];
      const Step width = book.bin_steps;
      const std::vector<size_t> quiet = Quiet(floors, std::max<Step>(5, steps / 10) / width);
      double gain = 0, whole = 0;
      int rises = 0, falls = 0;
      if (!low.empty() && quiet.size() >= 2) {
        gain = static_cast<double>(low[quiet.back()]) - static_cast<double>(low[quiet.front()]);
        whole = static_cast<double>(floors[quiet.back()]) - static_cast<double>(floors[quiet.front()]);
        for (size_t k = 1; k < quiet.size(); ++k) {
          rises += low[quiet[k]] > low[quiet[k - 1]];
          falls += low[quiet[k]] < low[quiet[k - 1]];
        }
      }
      Judged g;
      if (!low.empty()) g = JudgeGrowth(low);
      uint64_t kept = 0;
      for (const Survivors& at : s.evidence.left) kept += at.step >= 1 ? at.objects : 0;
      for (const Cohort& c : history.cohorts) if (c.step >= s.evidence.end) kept += c.live_objects;
      int state = 0;  // 0 clean 1 unsure 2 leak
      const char* why = "";
      if (s.log_odds > kBound) { state = 2; why = "survivors"; }
      else if (s.log_odds > -kBound && kept > 1) { state = 1; why = "survivors"; }
      bool by_growth = false;
      if (state != 2) {
        const bool grows = g.log_odds > kBound && gain > 0;
        if (grows && dev.log_odds > kBound) { state = 2; why = "growth"; by_growth = true; }
        else if (state == 0 && g.log_odds > -kBound && gain > 0 && dev.log_odds > -kBound && rises > falls + 1) { state = 1; why = "growth"; by_growth = true; }
      }
      LeakVerdict v;
      v.evidence.tested = {phase.steps.begin, phase.steps.begin + s.evidence.end};
      v.evidence.leaking = {phase.steps.begin + s.posterior.begin, phase.steps.begin + s.evidence.end};
      v.evidence.max_lifetime_steps = history.max_completed_lifetime_steps;
      const Judged& by = by_growth ? g : s;
      const Step w = by_growth ? width : 1;
      if (state > 0) {
        Onset onset{{by.posterior.begin, by.evidence.end}, by.posterior.onset};
        Rate rate = EstimateRate(by.evidence.left, onset, by.evidence.longest);
        v.rate_bytes_per_step = rate.bytes_per_step / w;
        v.rate_objects_per_step = rate.objects_per_step / w;
        v.rate_ci_low = rate.bytes_interval.low / w;
        v.rate_ci_high = rate.bytes_interval.high / w;
        v.evidence.period = rate.period;
        if (by_growth) v.rate_objects_per_step = 0;
        if (by_growth && !run.growth.books()[line.book].in_bytes()) { v.rate_objects_per_step = v.rate_bytes_per_step; v.rate_bytes_per_step = v.rate_ci_low = v.rate_ci_high = 0; }
        v.evidence.survivors = TotalOf(by.evidence.left);
        if (by.posterior.onset && by.posterior.begin * w > std::max<Step>(5, steps / 10)) v.onset_step = phase.steps.begin + by.posterior.begin * w;
        if (by_growth) { v.evidence.leaking = {phase.steps.begin + by.posterior.begin * w, phase.steps.end}; v.evidence.tested = v.evidence.leaking; }
      }
      RunShape shape = run.shape;
      shape.device_total_bytes = run.growth.books()[line.book].of == Book::Of::kDevice ? DeviceTotalBytes(run.trace, run.ledger, run.growth.books()[line.book].device) : 0;
      if (state == 2) {
        Rate r{v.rate_bytes_per_step, v.rate_objects_per_step, {}, {}};
        v.verdict = by_growth ? Verdict::kGrowingBuffer : by.posterior.likeliest == Model::kAccelerating ? Verdict::kAcceleratingLeak : Verdict::kLeak;
        if (by_growth) v.evidence.buffer.trend = BufferTrend::kGrows;
        if (!IsMaterial(r, shape)) v.verdict = Verdict::kMinorLeak;
      } else if (state == 1) {
        v.verdict = Verdict::kInsufficientEvidence;
        v.further_steps_needed = 0;
        v.doubt = "odds";
      } else if (s.any) {
        switch (s.posterior.alternative) {
          case Model::kOneTime: case Model::kAccident: v.verdict = Verdict::kOneTime; break;
          case Model::kFilled: case Model::kFilling: v.verdict = Verdict::kSublinear; break;
          default: v.verdict = Verdict::kSteady;
        }
      }
      if (state != 2) v.onset_step.reset();
      char text[200];
      std::snprintf(text, sizeof text, "by line: %s, odds %.1f, %.1f", why, s.log_odds, g.log_odds);
      v.explanation = text;
      if (Debug() && (state > 0 || getenv("VRAMTRACK_DEBUG_LINES")[0] == 'a')) {
        std::fprintf(stderr, "phase %zu book %u %s:%u %s state %d %s odds %.1f %.1f dev %.1f gain %.0f whole %.0f rises %d falls %d longest %u releases %.0f kept %llu sites %zu like %d/%d rate %.0f\n", p, line.book, line.frame.file.c_str(), line.frame.line, line.frame.function.c_str(), state, why, s.log_odds, g.log_odds, dev.log_odds, gain, whole, rises, falls, s.evidence.longest, s.evidence.releases, (unsigned long long)kept, line.sites.size(), (int)s.posterior.likeliest, (int)s.posterior.alternative, v.rate_bytes_per_step);
      }
      // Share.
      std::vector<double> shares;
      double sum = 0;
      for (const SiteIndex i : line.sites) {
        double share = 0;
        if (state > 0) {
          if (IsSegmentSite(sites[i]) && sites[i].key.kind != schema::GRAPH_POOL) { shares.push_back(0); continue; }
          if (by_growth) {
            const std::vector<HeldLevel> own = run.growth.LevelsOf(i);
            std::vector<double> ol;
            for (size_t k = 0; k < own.size(); ++k) {
              if (book.steps[k] < phase.steps.begin || book.steps[k] >= phase.steps.end) continue;
              ol.push_back(run.growth.books()[line.book].in_bytes() ? own[k].bytes : own[k].objects);
            }
            if (!ol.empty() && quiet.size() >= 2) share = std::max(0.0, ol[quiet.back()] - ol[quiet.front()]);
          } else {
            const SurvivorTotal t = TotalOf(SurvivorsIn(run.histories.history(i), v.evidence.leaking));
            share = v.rate_bytes_per_step > 0 ? static_cast<double>(t.bytes) : static_cast<double>(t.objects);
          }
        }
        shares.push_back(share);
        sum += share;
      }
      for (size_t k = 0; k < line.sites.size(); ++k) {
        const SiteIndex i = line.sites[k];
        LeakVerdict own = v;
        if (state > 0) {
          const double share = sum > 0 ? shares[k] / sum : 0;
          if (share == 0) { own = LeakVerdict(); own.verdict = run.histories.history(i).live_objects() > 0 ? Verdict::kOneTime : Verdict::kSteady; own.explanation = "no part"; }
          else { own.rate_bytes_per_step *= share; own.rate_objects_per_step *= share; own.rate_ci_low *= share; own.rate_ci_high *= share; own.evidence.joint = line.sites.size() > 1; }
        }
        if (IsSegmentSite(sites[i]) && sites[i].key.kind != schema::GRAPH_POOL) { own = LeakVerdict(); own.verdict = Verdict::kSteady; own.explanation = "segments"; }
        // The gravest phase counts.
        const auto rank = [](const LeakVerdict& one) { return IsLeak(one.verdict) ? 0 : one.verdict == Verdict::kInsufficientEvidence ? 1 : one.verdict == Verdict::kSublinear ? 2 : one.verdict == Verdict::kOneTime ? 3 : 4; };
        if (p == 0 || rank(own) < rank((*verdicts)[i])) { (*verdicts)[i] = own; (*phase_of_site)[i] = p; }
      }
      result.push_back({line, v, s.log_odds, g.log_odds});
    }
  }
  return result;
}

}  // namespace vramtrack
