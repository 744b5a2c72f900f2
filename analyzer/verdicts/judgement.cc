// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/judgement.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vramtrack {
namespace {

// Growth is compared at the quietest moments of so many windows, of so many steps at least: steps of several kinds
// (micro-steps, evaluations) are compared like with like.
constexpr size_t kMostParts = 12, kWindowSteps = 5;
// A level that rose less often has not shown that it grows.
constexpr size_t kFewestRises = 5;

}  // namespace

bool Judgement::by_size() const {
  if (window_objects.empty() || window_objects.front() == 0 || window_objects.back() == 0) return false;
  const auto size = [this](size_t window) {
    return static_cast<double>(windows[window]) / static_cast<double>(window_objects[window]);
  };
  const auto objects = static_cast<double>(std::min(window_objects.front(), window_objects.back()));
  return 2 * (size(windows.size() - 1) - size(0)) * objects >= gain();
}

std::vector<size_t> QuietMoments(const std::vector<uint64_t>& levels, size_t warmup) {
  std::vector<size_t> quiet;
  if (levels.size() <= warmup) return quiet;
  const size_t count = levels.size() - warmup;
  const size_t windows = std::clamp<size_t>(count / kWindowSteps, 2, kMostParts);
  const size_t width = std::max<size_t>(1, count / windows);
  for (size_t begin = warmup; begin + width <= levels.size(); begin += width) {
    const auto from = levels.begin() + static_cast<std::ptrdiff_t>(begin);
    quiet.push_back(
        static_cast<size_t>(std::min_element(from, from + static_cast<std::ptrdiff_t>(width)) - levels.begin()));
  }
  return quiet;
}

PhaseJudge::PhaseJudge(const Ledger& ledger, const SiteHistories& histories, const GrowthLedger& growth,
                       const RunPhase& phase, const Prior& prior)
    : ledger_(ledger), histories_(histories), growth_(growth), phase_(phase), prior_(prior) {
  for (uint32_t i = 0; i < growth.books().size(); ++i) {
    const BookLevels all = growth.LevelsOf(i);
    OfPhase book;
    book.bin_steps = all.bin_steps;
    std::vector<uint64_t> levels;
    for (size_t bin = 0; bin < all.steps.size(); ++bin) {
      if (all.steps[bin] < phase.steps.begin) book.first = bin + 1;
      if (all.steps[bin] < phase.steps.begin || all.steps[bin] >= phase.steps.end) continue;
      book.steps.push_back(all.steps[bin]);
      levels.push_back(all.of_book[bin]);
    }
    book.quiet = QuietMoments(levels, (phase.warmup_end - phase.steps.begin) / all.bin_steps);
    book.judgement.growth = WeighGrowth(levels, book.bin_steps);
    AddWindows(levels, book, &book.judgement);
    books_.push_back(std::move(book));
  }
}

Weighed PhaseJudge::WeighSurvivors(const SiteHistory& history) const {
  Weighed weighed;
  weighed.evidence = EvidenceOfSurvivors(history, phase_.steps.size());
  weighed.any = weighed.evidence.any();
  if (!weighed.any) return weighed;
  weighed.posterior = JudgeEvidence(weighed.evidence, keepers_, prior_);
  weighed.log_odds = weighed.posterior.log_odds;
  if (weighed.posterior.is_clean(prior_)) return weighed;
  // The objects of one step may have one cause: a leak must be one if each step counts once, too.
  const Posterior once = JudgeEvidence(OncePerStep(weighed.evidence), keepers_, prior_);
  if (once.log_odds < weighed.log_odds) weighed.posterior = once;
  weighed.log_odds = weighed.posterior.log_odds;
  return weighed;
}

Weighed PhaseJudge::WeighGrowth(const std::vector<uint64_t>& levels, Step bin_steps) const {
  Weighed weighed;
  weighed.evidence = EvidenceOfGrowth(levels, bin_steps);
  weighed.any = weighed.evidence.any();
  if (!weighed.any) return weighed;
  weighed.posterior = JudgeEvidence(weighed.evidence, 0, prior_);
  weighed.log_odds = weighed.posterior.log_odds;
  return weighed;
}

// Grew for a while, and surely does not any more.
bool PhaseJudge::HasStopped(const Weighed& growth) const {
  return growth.any && growth.posterior.is_clean(prior_) && growth.posterior.alternative != Model::kUnfreed &&
         growth.evidence.left.size() >= kFewestRises;
}

SiteHistory PhaseJudge::HistoryOf(const std::vector<SiteIndex>& sites, uint32_t book) const {
  std::vector<SiteHistory> all;
  for (const SiteIndex site : sites) all.push_back(histories_.history(site));
  SiteHistory history = PartOf(Merged(all), phase_.steps);
  return growth_.books()[book].in_bytes() ? history : WithoutBytes(std::move(history));
}

std::vector<HeldLevel> PhaseJudge::LevelsOf(const std::vector<SiteIndex>& sites, uint32_t book) const {
  std::vector<HeldLevel> levels;
  for (const SiteIndex site : sites) {
    const std::vector<HeldLevel> of = growth_.LevelsOf(site);
    if (of.empty()) continue;
    levels.resize(books_[book].steps.size());
    for (size_t i = 0; i < levels.size(); ++i) {
      levels[i].bytes += of[books_[book].first + i].bytes;
      levels[i].objects += of[books_[book].first + i].objects;
    }
  }
  return levels;
}

void PhaseJudge::AddWindows(const std::vector<uint64_t>& levels, const OfPhase& book, Judgement* judgement) {
  for (const size_t moment : book.quiet) {
    judgement->windows.push_back(levels.empty() ? 0 : levels[moment]);
    judgement->window_steps.push_back(book.steps[moment]);
  }
  for (size_t i = 1; i < judgement->windows.size(); ++i) {
    judgement->rises += judgement->windows[i] > judgement->windows[i - 1];
    judgement->falls += judgement->windows[i] < judgement->windows[i - 1];
  }
}

Judgement PhaseJudge::Judge(const std::vector<SiteIndex>& sites, uint32_t book) const {
  Judgement judgement;
  judgement.history = HistoryOf(sites, book);
  const std::vector<HeldLevel> held = LevelsOf(sites, book);
  std::vector<uint64_t> levels;
  for (const HeldLevel& level : held) levels.push_back(growth_.books()[book].in_bytes() ? level.bytes : level.objects);
  judgement.survivors = WeighSurvivors(judgement.history);
  judgement.growth = WeighGrowth(levels, books_[book].bin_steps);
  judgement.longest_life = judgement.history.max_completed_lifetime_steps;
  AddWindows(levels, books_[book], &judgement);
  for (const size_t moment : books_[book].quiet) {
    judgement.window_objects.push_back(held.empty() ? 0 : held[moment].objects);
  }
  Decide(book, &judgement);
  Measure(book, &judgement);
  return judgement;
}

void PhaseJudge::Decide(uint32_t book, Judgement* judgement) const {
  const Weighed& survivors = judgement->survivors;
  const Weighed& growth = judgement->growth;
  uint64_t kept = 0;
  for (const Cohort& cohort : judgement->history.cohorts) kept += cohort.step > 0 ? cohort.live_objects : 0;
  if (survivors.any && survivors.posterior.is_leak(prior_)) {
    judgement->certainty = Certainty::kLeak;
    judgement->accelerates = survivors.posterior.accelerates(prior_) ||
                             JudgeEvidence(InEqualObjects(survivors.evidence), keepers_, prior_).accelerates(prior_);
    return;
  }
  if (survivors.any && !survivors.posterior.is_clean(prior_) && kept > 1 && !HasStopped(growth)) {
    judgement->certainty = Certainty::kUnsure;
  }
  // What grows while its ledger does not is made up for by something else.
  const Weighed& whole = OfBook(book).growth;
  if (!growth.any || judgement->gain() <= 0 || !whole.any || whole.posterior.is_clean(prior_)) return;
  // What keeps most of its objects leaves them behind.
  const bool replaced = !survivors.any || growth.evidence.drops || survivors.evidence.drops;
  if (growth.log_odds + (replaced ? std::log(prior_.replaced) : 0) > std::log(prior_.odds)) {
    judgement->certainty = Certainty::kLeak;
    judgement->replaced = replaced;
    judgement->by_growth = true;
  } else if (judgement->certainty == Certainty::kClean && !growth.posterior.is_clean(prior_) &&
             judgement->rises > judgement->falls + 1) {
    judgement->certainty = Certainty::kUnsure;
    judgement->replaced = true;
  }
}

// Both kinds of evidence give a rate; the one that is known better counts.
void PhaseJudge::Measure(uint32_t book, Judgement* judgement) const {
  const Step begin = phase_.steps.begin, width = books_[book].bin_steps;
  judgement->tested = {begin, begin + judgement->survivors.evidence.end};
  judgement->leaking = judgement->tested;
  if (judgement->certainty == Certainty::kClean) return;
  const Step warmup = phase_.warmup_end - begin;
  const auto rate_of = [warmup](const Weighed& weighed, Step steps) {
    // Without what was set up in warm-up, unless that would leave too little.
    const Step end = weighed.evidence.end, judged = std::min(warmup / steps, end / 2);
    const Step first = std::min(std::max(weighed.posterior.begin, judged), end);
    Rate rate = EstimateRate(weighed.evidence.left, {first, end},
                             weighed.posterior.onset && first == weighed.posterior.begin, weighed.evidence.longest);
    rate.bytes_per_step /= steps;
    rate.objects_per_step /= steps;
    rate.bytes_interval.low /= steps;
    rate.bytes_interval.high /= steps;
    return rate;
  };
  const Weighed& decisive = judgement->decisive();
  const Step steps = judgement->replaced ? width : 1;
  judgement->leaking = {begin + decisive.posterior.begin * steps,
                        begin + std::min<Step>(decisive.evidence.end * steps, phase_.steps.size())};
  if (judgement->replaced) judgement->tested = {begin, judgement->leaking.end};
  judgement->onset = decisive.posterior.onset && judgement->leaking.begin >= phase_.warmup_end;
  judgement->left = TotalOf(Within(decisive.evidence.left, {decisive.posterior.begin, decisive.evidence.end}));
  judgement->rate = rate_of(decisive, steps);
  const bool handles = !growth_.books()[book].in_bytes();
  if (judgement->replaced) {
    // Rises are not counted in objects; of handles, they are their number.
    judgement->rate.objects_per_step = handles ? std::exchange(judgement->rate.bytes_per_step, 0) : 0;
    if (handles) judgement->rate.bytes_interval = {};
    return;
  }
  if (handles || !judgement->growth.any || !judgement->growth.posterior.is_leak(prior_)) return;
  const Rate other = rate_of(judgement->growth, width);
  const auto spread = [](const Rate& rate) {
    return rate.bytes_per_step > 0 ? (rate.bytes_interval.high - rate.bytes_interval.low) / rate.bytes_per_step : 1e9;
  };
  if (spread(other) >= spread(judgement->rate)) return;
  judgement->rate.bytes_per_step = other.bytes_per_step;
  judgement->rate.bytes_interval = other.bytes_interval;
  judgement->rate.period = {};
}

}  // namespace vramtrack
