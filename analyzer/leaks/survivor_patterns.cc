// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/survivor_patterns.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace vramtrack {
namespace {

// Patterns: of one step in `period`; of any sequence that repeats; and rhythms, whose gaps vary by some share.
constexpr Step kLongestPeriod = 48, kLongestSequence = 24;
constexpr size_t kLatestGaps = 5, kFewestGaps = 4;
constexpr double kSinglePattern = 0.7, kRhythm = 0.15;

// The number that occurs most often; the lowest of several. `numbers` ascend.
uint32_t Mode(const std::vector<uint32_t>& numbers) {
  uint32_t mode = 0;
  for (size_t i = 0, most = 0; i < numbers.size();) {
    const auto next = std::upper_bound(numbers.begin(), numbers.end(), numbers[i]);
    const size_t same = static_cast<size_t>(next - numbers.begin()) - i;
    if (same > most) {
      most = same;
      mode = numbers[i];
    }
    i += same;
  }
  return mode;
}

}  // namespace

template <typename Expected>
void SurvivorPatterns::AddPattern(double log_prior, Expected expected) {
  Pattern pattern;
  pattern.log_prior = log_prior;
  pattern.misses.assign(bins_.edges.size(), 0);
  for (size_t bin = 0; bin < bins_.count(); ++bin) {
    uint32_t misses = pattern.misses[bin];
    for (Step t = bins_.edges[bin]; t < bins_.edges[bin + 1]; ++t) misses += bins_.filled[t] != expected(t);
    pattern.misses[bin + 1] = misses;
  }
  patterns_.push_back(std::move(pattern));
}

SurvivorPatterns::SurvivorPatterns(const SurvivorBins& bins, const Prior& prior) : bins_(bins), prior_(prior) {
  std::vector<uint32_t> numbers;
  for (Step t = 0; t < bins_.end; ++t) {
    if (bins_.filled[t] == 0) continue;
    at_.push_back(t);
    numbers.push_back(bins_.filled[t]);
  }
  if (at_.empty()) return;
  std::sort(numbers.begin(), numbers.end());
  usual_ = Mode(numbers);
  AddPeriods();
  AddSequences();
  for (const double uneven : kUneven) rhythms_.push_back(RhythmOf(std::vector<double>(bins_.count(), 1), uneven));
}

void SurvivorPatterns::AddPeriods() {
  // Two objects make a period if both ends of the run agree with it.
  const Step longest = std::max<Step>(1, bins_.end / 2);
  std::vector<Step> periods;
  for (Step p = 1; p <= std::min(kLongestPeriod, longest); ++p) periods.push_back(p);
  for (size_t i = at_.size() > kLatestGaps ? at_.size() - kLatestGaps : 1; i < at_.size(); ++i) {
    if (at_[i] - at_[i - 1] <= longest) periods.push_back(at_[i] - at_[i - 1]);
  }
  std::sort(periods.begin(), periods.end());
  periods.erase(std::unique(periods.begin(), periods.end()), periods.end());
  for (const Step p : periods) {
    const Step phase = at_.back() % p;
    const double share = p == 1 ? 0.5 : 0.5 / p / std::log(std::max<Step>(3, longest));
    AddPattern(std::log(kSinglePattern * share / p / bins_.slots), [&](Step t) { return t % p == phase ? usual_ : 0; });
  }
}

void SurvivorPatterns::AddSequences() {
  for (Step p = 2; p <= std::min(kLongestSequence, bins_.end / 3); ++p) {
    // What most repetitions of the later half have.
    std::vector<uint32_t> sequence(p, 0);
    for (Step phase = 0; phase < p; ++phase) {
      std::vector<uint32_t> seen;
      for (Step t = bins_.end / 2 + (phase + p - bins_.end / 2 % p) % p; t < bins_.end; t += p) {
        seen.push_back(bins_.filled[t]);
      }
      std::sort(seen.begin(), seen.end());
      sequence[phase] = Mode(seen);
    }
    AddPattern(std::log((1 - kSinglePattern - kRhythm) / (p * (p + 1.0))) - p * std::log1p(bins_.slots),
               [&](Step t) { return sequence[t % p]; });
  }
}

SurvivorPatterns::Rhythm SurvivorPatterns::RhythmOf(const std::vector<double>& shape, double uneven) const {
  Rhythm rhythm;
  if (at_.size() <= kFewestGaps) return rhythm;
  std::vector<double> clock(bins_.edges.size(), 0);  // at each edge
  for (size_t bin = 0; bin < bins_.count(); ++bin)
    clock[bin + 1] = clock[bin] + shape[bin] * (bins_.edges[bin + 1] - bins_.edges[bin]);
  const auto now = [&](Step t) {
    const size_t bin =
        static_cast<size_t>(std::upper_bound(bins_.edges.begin(), bins_.edges.end(), t) - bins_.edges.begin()) - 1;
    return bin >= bins_.count() ? clock.back() : clock[bin] + shape[bin] * (t - bins_.edges[bin]);
  };
  const size_t half = at_.size() / 2;
  const double gap = (now(at_.back()) - now(at_[half])) / static_cast<double>(at_.size() - 1 - half);
  const double shortest = gap * (1 - uneven), longest = gap * (1 + uneven);
  if (longest - shortest < shape.back()) return rhythm;
  rhythm.log_prior =
      std::log(kRhythm / std::size(kUneven) * uneven / std::log(std::max<Step>(3, bins_.end))) - bins_.log_slots;
  rhythm.hits.assign(bins_.edges.size(), 0);
  rhythm.misses.assign(bins_.edges.size(), 0);
  rhythm.log_widths.assign(bins_.edges.size(), 0);
  double last = now(at_[0]);
  uint32_t overdue = 0;
  for (size_t bin = 0, next = 0; bin < bins_.count(); ++bin) {
    uint32_t hits = rhythm.hits[bin], misses = rhythm.misses[bin];
    double log_widths = rhythm.log_widths[bin];
    for (; next < at_.size() && at_[next] < bins_.edges[bin + 1]; ++next) {
      const double since = now(at_[next]) - last;
      const bool in_time = next == 0 || (shortest - shape[bin] / 2 <= since && since <= longest + shape[bin] / 2);
      if (in_time && bins_.filled[at_[next]] == usual_) {
        ++hits;
        log_widths += std::log1p((longest - shortest) / shape[bin]);
      } else {
        ++misses;
      }
      last = now(at_[next]);
      overdue = 0;
    }
    for (; clock[bin + 1] - last > (overdue + 1) * longest + shape[bin]; ++overdue) misses += next > 0;
    rhythm.hits[bin + 1] = hits;
    rhythm.misses[bin + 1] = misses;
    rhythm.log_widths[bin + 1] = log_widths;
  }
  return rhythm;
}

double SurvivorPatterns::AtRhythm(const Rhythm& rhythm, size_t begin, size_t end) const {
  if (rhythm.hits.empty()) return kNever;
  const uint32_t hit = rhythm.hits[end] - rhythm.hits[begin], miss = rhythm.misses[end] - rhythm.misses[begin];
  // Where within the gap the object comes; a miss may be anywhere.
  return rhythm.log_prior + LogHits(hit + miss, miss) - (rhythm.log_widths[end] - rhythm.log_widths[begin]) -
         miss * (bins_.log_slots + std::log(std::max<Step>(1, bins_.end)));
}

// Of `all` events so many are misses: Beta(1, hits) for their share.
double SurvivorPatterns::LogHits(uint32_t all, uint32_t miss) const {
  const uint32_t hits = prior_.pattern_hits;
  return LogFactorialOf(miss) + LogFactorialOf(hits - 1 + all - miss) + LogFactorialOf(hits) -
         LogFactorialOf(hits - 1) - LogFactorialOf(hits + all);
}

double SurvivorPatterns::Log(size_t begin, size_t end) const {
  LogTotal total;
  for (const Pattern& pattern : patterns_) {
    const uint32_t miss = pattern.misses[end] - pattern.misses[begin];
    total.Add(pattern.log_prior + LogHits(bins_.edges[end] - bins_.edges[begin], miss) - miss * bins_.log_slots);
  }
  for (const Rhythm& rhythm : rhythms_) total.Add(AtRhythm(rhythm, begin, end));
  return total.value();
}

}  // namespace vramtrack
