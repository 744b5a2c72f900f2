// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/posterior.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <vector>

#include "analyzer/leaks/log_gamma.h"

namespace vramtrack {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
// Resolution: so many bins, the first ones of one step each. Steps of longer runs are taken together before.
constexpr size_t kBins = 96, kFineBins = 32;
constexpr Step kMostSteps = 8192;
// Rates that are integrated over: a grid from one object in twice the run to nearly all, and more of them, in standard
// errors, near the mean rates of the whole run and of its later half.
constexpr int kRates = 9;
constexpr double kNear[] = {-3, -2, -1.2, -.6, 0, .6, 1.2, 2, 3};
constexpr double kHighestRate = 0.97;
// A rate that changes does so at one of these places, by less than this factor.
constexpr size_t kPlaces = 12;
constexpr double kLogLargestChange = 1.4;
constexpr double kUnlikely = 6;  // log odds
// Patterns: of one step in `period`; of any sequence that repeats; and rhythms, whose gaps vary by some share.
constexpr Step kLongestPeriod = 48, kLongestSequence = 24;
constexpr size_t kLatestGaps = 5, kFewestGaps = 4;
constexpr double kSinglePattern = 0.7, kRhythm = 0.15;
constexpr double kUneven[] = {0.15, 0.35};

double LogSum(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

// A sum of numbers that are given as logarithms.
class LogTotal {
 public:
  void Add(double term) {
    if (term <= max_ - 40) return;
    if (term > max_) {
      sum_ = sum_ * std::exp(max_ - term) + 1;
      max_ = term;
    } else {
      sum_ += std::exp(term - max_);
    }
  }
  double value() const { return sum_ > 0 ? max_ + std::log(sum_) : kNever; }

 private:
  double max_ = kNever, sum_ = 0;
};

// log n! for whole numbers, looked up. Larger ones do not occur: steps are condensed, misses are steps.
double LogFactorialOf(uint32_t n) {
  static const std::vector<double> table = [] {
    std::vector<double> logs(2 * kMostSteps);
    for (size_t i = 0; i < logs.size(); ++i) logs[i] = LogFactorial(static_cast<double>(i));
    return logs;
  }();
  return n < table.size() ? table[n] : LogFactorial(n);
}

// The likelihood of one series of survivors under each model. Spans are between edges of bins.
class SurvivorModel {
 public:
  SurvivorModel(const Evidence& evidence, const Prior& prior) : evidence_(evidence), prior_(prior) {
    Condense();
    MakeBins();
    MakeSetups();
    MakePatterns();
    constant_ = RatePrefix(std::vector<double>(bins(), 1.0), /*spans=*/true);
    DropBursts();
  }

  Posterior Judge(double keepers) {
    const size_t last = bins();
    const double accidents = std::max(1.0, keepers / prior_.keepers);
    Posterior result;
    result.log_weight.fill(kNever);
    const auto set = [&](Model model, double weight, double log_likelihood) {
      result.log_weight[static_cast<size_t>(model)] = std::log(weight) + log_likelihood;
    };
    set(Model::kOneTime, prior_.one_time * accidents, OneTime());
    set(Model::kAccident, prior_.accident * accidents, Quiet(0, last));

    const std::vector<Start> starts = Starts();
    LogTotal leak, unfreed;
    const Start* likeliest = nullptr;
    for (const Start& start : starts) {
      leak.Add(start.log_likelihood);
      unfreed.Add(start.log_likelihood + LogUnfreed(start.edge));
      if (likeliest == nullptr || start.log_likelihood > likeliest->log_likelihood) likeliest = &start;
    }
    set(Model::kLeak, prior_.leak * (1 - prior_.accelerating), leak.value());
    set(Model::kUnfreed, prior_.unfreed, unfreed.value());
    result.begin = StepOf(edges_[likeliest->edge]);
    result.onset = likeliest->onset;

    set(Model::kAccelerating, prior_.leak * prior_.accelerating, Accelerating());
    Weigh(&result);
    // What is clean stays so with two more reasons to be.
    if (result.log_odds > -std::log(prior_.odds)) {
      set(Model::kFilled, prior_.filled, Filled());
      set(Model::kFilling, prior_.filling * (evidence_.drops ? prior_.filling_drops : 1), Filling());
      Weigh(&result);
      // What seems to be clean may be a leak that has become rarer.
      if (result.log_odds < 0) {
        set(Model::kLeak, prior_.leak * (1 - prior_.accelerating),
            LogSum(leak.value(), std::log(prior_.changing) + ChangedOnce()));
        Weigh(&result);
      }
    }
    return result;
  }

 private:
  // A beginning of a leak, with the likelihood of everything before and after it.
  struct Start {
    size_t edge;
    bool onset;
    double log_likelihood;
  };

  // Log likelihoods before each edge, for each kind of burst and each rate, with their prior.
  struct Rates {
    std::vector<std::vector<double>> prefix;
    std::vector<double> log_prior, log_weight, log_rate;
    std::vector<size_t> burst;  // of each, an index of kBursts
  };

  struct Pattern {
    double log_prior = 0;
    std::vector<uint32_t> misses;
  };

  struct Rhythm {
    double log_prior = 0;
    std::vector<uint32_t> hits, misses;  // before each edge
    std::vector<double> log_widths;      // of the gaps of all hits
  };

  size_t bins() const { return edges_.size() - 1; }
  Step StepOf(Step condensed) const { return condensed * group_; }

  // Counts by step as slots that are filled or not: nine in ten steps have no more objects than slots. So one object a
  // step, seven to nine, and large random numbers are one family.
  void Condense() {
    group_ = evidence_.end / kMostSteps + 1;
    end_ = std::max<Step>(1, evidence_.end / group_);
    filled_.assign(end_, 0);
    for (const Survivors& at : evidence_.left) {
      const Step step = std::min(at.step / group_, end_ - 1);
      filled_[step] = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{filled_[step]} + at.objects, UINT32_MAX));
    }
    std::vector<uint32_t> ordinary(filled_.begin() + std::min<Step>(8, end_ / 4), filled_.end());
    const size_t rank = static_cast<size_t>(std::ceil(0.9 * static_cast<double>(ordinary.size() - 1)));
    std::nth_element(ordinary.begin(), ordinary.begin() + static_cast<std::ptrdiff_t>(rank), ordinary.end());
    slots_ = std::max<uint32_t>(1, ordinary[rank]);
    log_slots_ = std::log(slots_);
    for (uint32_t& filled : filled_) filled = std::min(filled, slots_);
  }

  void MakeBins() {
    const Step fine = std::min<Step>(kFineBins, end_), rest = end_ - fine;
    for (Step i = 0; i <= fine; ++i) edges_.push_back(i);
    const Step wide = std::min<Step>(rest, kBins - kFineBins);
    for (Step i = 1; i <= wide; ++i) {
      edges_.push_back(fine + static_cast<Step>(std::lround(static_cast<double>(rest) * i / wide)));
    }
    objects_.assign(edges_.size(), 0);
    nonempty_.assign(edges_.size(), 0);
    choose_.assign(edges_.size(), 0);
    for (size_t bin = 0; bin < bins(); ++bin) {
      objects_[bin + 1] = objects_[bin];
      nonempty_[bin + 1] = nonempty_[bin];
      choose_[bin + 1] = choose_[bin];
      for (Step t = edges_[bin]; t < edges_[bin + 1]; ++t) {
        objects_[bin + 1] += filled_[t];
        nonempty_[bin + 1] += filled_[t] > 0;
        if (slots_ > 1) {
          choose_[bin + 1] += LogFactorialOf(slots_) - LogFactorialOf(filled_[t]) - LogFactorialOf(slots_ - filled_[t]);
        }
      }
    }
  }

  // The ends of set-up, with the likelihood of what came before: any steps may leave any number.
  void MakeSetups() {
    LogTotal later;
    for (const int steps : kSetupLengths) {
      if (2 * static_cast<Step>(steps) > end_) break;
      const auto edge = static_cast<size_t>(std::lower_bound(edges_.begin(), edges_.end(), static_cast<Step>(steps)) -
                                            edges_.begin());
      if (!setups_.empty() && setups_.back().edge == edge) continue;
      setups_.push_back({edge, false, -std::log1p(edges_[edge])});
      if (edge > 0) later.Add(setups_.back().log_likelihood);
    }
    // That there is none has a prior of one half.
    setups_[0].log_likelihood = setups_.size() > 1 ? later.value() : 0;
    LogTotal all;
    for (const Start& setup : setups_) all.Add(setup.log_likelihood);
    for (Start& setup : setups_) {
      const double z = nonempty_[setup.edge], steps = edges_[setup.edge];
      setup.log_likelihood += -all.value() + LogBeta(z + .5, steps - z + .5) - LogBeta(.5, .5) - z * log_slots_;
    }
  }

  // Accidents only: their number in a run is gamma distributed.
  double Quiet(size_t begin, size_t end) const {
    const double z = nonempty_[end] - nonempty_[begin], steps = edges_[end] - edges_[begin];
    const double shape = prior_.accidents, mean = shape * end_;
    return LogRising(shape, z) + LogRising(mean, steps - z) - LogRising(shape + mean, steps) - z * log_slots_;
  }

  // Slots are filled at a rate θ · shape(t). `spans`: spans in the middle of the run are asked for as well.
  Rates RatePrefix(const std::vector<double>& shape, bool spans) const {
    const size_t n = bins();
    std::vector<double> nodes;
    const double low = std::log(0.5 / std::max<Step>(2, end_) / slots_), high = std::log(kHighestRate);
    for (int i = 0; i < kRates; ++i) nodes.push_back(low + (high - low) * i / (kRates - 1));
    for (const auto& [first, end] : {std::pair{size_t{0}, n}, {n / 2, n}, {size_t{0}, n / 2}}) {
      double found = 0, possible = 0;
      for (size_t bin = first; bin < end; ++bin) {
        found += objects_[bin + 1] - objects_[bin];
        possible += slots_ * shape[bin] * (edges_[bin + 1] - edges_[bin]);
      }
      if (found > 0) {
        for (const double error : kNear) {
          nodes.push_back(std::clamp(std::log(found / possible) + error / std::sqrt(found), low, high));
        }
      }
      if (!spans) break;
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    // Trapezoids: the prior of the rate is uniform in its logarithm.
    std::vector<double> weights(nodes.size(), 1);
    double sum = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const size_t a = i > 0 ? i - 1 : i, b = i + 1 < nodes.size() ? i + 1 : i;
      if (nodes.size() > 1) weights[i] = (nodes[b] - nodes[a]) / static_cast<double>(b - a);
      sum += weights[i];
    }
    Rates rates;
    int kinds = 0;
    for (const Burst& burst : kBursts) {
      // A step that has one object at most cannot vary within it.
      const auto kind = static_cast<size_t>(&burst - kBursts);
      if (!IsPossible(burst)) continue;
      ++kinds;
      if (!spans && !likely_[kind]) continue;
      for (size_t i = 0; i < nodes.size(); ++i) {
        rates.prefix.push_back(burst.variation == 0 ? Even(std::exp(nodes[i]), shape)
                                                    : InBursts(std::exp(nodes[i]), shape, burst));
        rates.log_prior.push_back(std::log(weights[i] / sum));
        rates.log_weight.push_back(std::log(weights[i]));
        rates.log_rate.push_back(nodes[i]);
        rates.burst.push_back(kind);
      }
    }
    for (double& log_prior : rates.log_prior) log_prior -= std::log(kinds);
    return rates;
  }

  bool IsPossible(const Burst& burst) const {
    if (burst.variation == 0) return true;
    // A step that has one object at most cannot vary within it.
    if (burst.steps == 1 && slots_ == 1) return false;
    return static_cast<Step>(burst.steps) <= std::max<Step>(1, end_ / kFewestBlocks);
  }

  // Bursts that a constant rate does not need are not tried with others: it needs them most.
  void DropBursts() {
    std::array<LogTotal, std::size(kBursts)> by_burst;
    for (size_t i = 0; i < constant_.prefix.size(); ++i) {
      by_burst[constant_.burst[i]].Add(constant_.prefix[i].back() + constant_.log_prior[i]);
    }
    double most = kNever;
    for (const LogTotal& total : by_burst) most = std::max(most, total.value());
    for (size_t i = 0; i < by_burst.size(); ++i) likely_[i] = i == 0 || by_burst[i].value() > most - kUnlikely;
  }

  std::vector<double> Even(double rate, const std::vector<double>& shape) const {
    std::vector<double> prefix(edges_.size(), 0);
    for (size_t bin = 0; bin < bins(); ++bin) {
      const double p = std::min(rate * shape[bin], 0.999);
      const double k = objects_[bin + 1] - objects_[bin], possible = slots_ * (edges_[bin + 1] - edges_[bin]);
      prefix[bin + 1] =
          prefix[bin] + k * std::log(p) + (possible - k) * std::log1p(-p) + choose_[bin + 1] - choose_[bin];
    }
    return prefix;
  }

  // In blocks of some steps the rate is drawn anew from a beta distribution.
  std::vector<double> InBursts(double rate, const std::vector<double>& shape, const Burst& burst) const {
    std::vector<double> prefix(edges_.size(), 0);
    for (size_t first = 0; first < bins();) {
      size_t end = first + 1;
      const Step block = edges_[first] / static_cast<Step>(burst.steps);
      while (end < bins() && edges_[end] / static_cast<Step>(burst.steps) == block) ++end;
      const double steps = edges_[end] - edges_[first];
      double part = 0;
      for (size_t bin = first; bin < end; ++bin) part += shape[bin] * (edges_[bin + 1] - edges_[bin]);
      const double p = std::min(rate * part / steps, 0.999);
      const double a = std::max((1 - p) / burst.variation - p, 0.25), c = a * (1 - p) / p;
      const double k = objects_[end] - objects_[first], possible = slots_ * steps;
      const double whole = LogRising(a, k) + LogRising(c, possible - k) - LogRising(a + c, possible);
      for (size_t bin = first; bin < end; ++bin) {
        const double share = (edges_[bin + 1] - edges_[bin]) / steps;
        prefix[bin + 1] = prefix[bin] + std::max(whole * share, -1e9) + choose_[bin + 1] - choose_[bin];
      }
      first = end;
    }
    return prefix;
  }

  // Patterns that repeat, with the steps before each edge that they do not predict.
  void MakePatterns() {
    for (Step t = 0; t < end_; ++t) {
      if (filled_[t] > 0) at_.push_back(t);
    }
    if (at_.empty()) return;
    std::vector<uint32_t> numbers;
    for (const Step t : at_) numbers.push_back(filled_[t]);
    std::sort(numbers.begin(), numbers.end());
    for (size_t i = 0, most = 0; i < numbers.size();) {
      const size_t same =
          static_cast<size_t>(std::upper_bound(numbers.begin(), numbers.end(), numbers[i]) - numbers.begin()) - i;
      if (same > most) {
        most = same;
        usual_ = numbers[i];
      }
      i += same;
    }
    // Two objects make a period if both ends of the run agree with it.
    const Step longest = std::max<Step>(1, end_ / 2);
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
      AddPattern(std::log(kSinglePattern * share / p / slots_), [&](Step t) { return t % p == phase ? usual_ : 0; });
    }
    for (Step p = 2; p <= std::min(kLongestSequence, end_ / 3); ++p) {
      // What most repetitions of the later half have.
      std::vector<uint32_t> sequence(p, 0);
      for (Step phase = 0; phase < p; ++phase) {
        std::vector<uint32_t> seen;
        for (Step t = end_ / 2 + (phase + p - end_ / 2 % p) % p; t < end_; t += p) seen.push_back(filled_[t]);
        std::sort(seen.begin(), seen.end());
        for (size_t i = 0, most = 0; i < seen.size();) {
          const size_t same =
              static_cast<size_t>(std::upper_bound(seen.begin(), seen.end(), seen[i]) - seen.begin()) - i;
          if (same > most) {
            most = same;
            sequence[phase] = seen[i];
          }
          i += same;
        }
      }
      AddPattern(std::log((1 - kSinglePattern - kRhythm) / (p * (p + 1.0))) - p * std::log1p(slots_),
                 [&](Step t) { return sequence[t % p]; });
    }
    for (const double uneven : kUneven) rhythms_.push_back(RhythmOf(std::vector<double>(bins(), 1), uneven));
  }

  template <typename Expected>
  void AddPattern(double log_prior, Expected expected) {
    Pattern pattern;
    pattern.log_prior = log_prior;
    pattern.misses.assign(edges_.size(), 0);
    for (size_t bin = 0; bin < bins(); ++bin) {
      uint32_t misses = pattern.misses[bin];
      for (Step t = edges_[bin]; t < edges_[bin + 1]; ++t) misses += filled_[t] != expected(t);
      pattern.misses[bin + 1] = misses;
    }
    patterns_.push_back(std::move(pattern));
  }

  // The same number of objects at gaps that are uniform about their mean, on a clock that runs as `shape` says: for a
  // cache ever more slowly. A gap that is too long or too short is a miss. Empty if there are too few gaps.
  Rhythm RhythmOf(const std::vector<double>& shape, double uneven) const {
    Rhythm rhythm;
    if (at_.size() <= kFewestGaps) return rhythm;
    std::vector<double> clock(edges_.size(), 0);  // at each edge
    for (size_t bin = 0; bin < bins(); ++bin)
      clock[bin + 1] = clock[bin] + shape[bin] * (edges_[bin + 1] - edges_[bin]);
    const auto now = [&](Step t) {
      const size_t bin = static_cast<size_t>(std::upper_bound(edges_.begin(), edges_.end(), t) - edges_.begin()) - 1;
      return bin >= bins() ? clock.back() : clock[bin] + shape[bin] * (t - edges_[bin]);
    };
    const size_t half = at_.size() / 2;
    const double gap = (now(at_.back()) - now(at_[half])) / static_cast<double>(at_.size() - 1 - half);
    const double shortest = gap * (1 - uneven), longest = gap * (1 + uneven);
    if (longest - shortest < shape.back()) return rhythm;
    rhythm.log_prior = std::log(kRhythm / std::size(kUneven) * uneven / std::log(std::max<Step>(3, end_))) - log_slots_;
    rhythm.hits.assign(edges_.size(), 0);
    rhythm.misses.assign(edges_.size(), 0);
    rhythm.log_widths.assign(edges_.size(), 0);
    double last = now(at_[0]);
    uint32_t overdue = 0;
    for (size_t bin = 0, next = 0; bin < bins(); ++bin) {
      uint32_t hits = rhythm.hits[bin], misses = rhythm.misses[bin];
      double log_widths = rhythm.log_widths[bin];
      for (; next < at_.size() && at_[next] < edges_[bin + 1]; ++next) {
        const double since = now(at_[next]) - last;
        const bool in_time = next == 0 || (shortest - shape[bin] / 2 <= since && since <= longest + shape[bin] / 2);
        if (in_time && filled_[at_[next]] == usual_) {
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

  double AtRhythm(const Rhythm& rhythm, size_t begin, size_t end) const {
    if (rhythm.hits.empty()) return kNever;
    const uint32_t hit = rhythm.hits[end] - rhythm.hits[begin], miss = rhythm.misses[end] - rhythm.misses[begin];
    // Where within the gap the object comes; a miss may be anywhere.
    return rhythm.log_prior + LogHits(hit + miss, miss) - (rhythm.log_widths[end] - rhythm.log_widths[begin]) -
           miss * (log_slots_ + std::log(std::max<Step>(1, end_)));
  }

  // Of `all` events so many are misses: Beta(1, hits) for their share.
  double LogHits(uint32_t all, uint32_t miss) const {
    const uint32_t hits = prior_.pattern_hits;
    return LogFactorialOf(miss) + LogFactorialOf(hits - 1 + all - miss) + LogFactorialOf(hits) -
           LogFactorialOf(hits - 1) - LogFactorialOf(hits + all);
  }

  double Patterned(size_t begin, size_t end) const {
    LogTotal total;
    for (const Pattern& pattern : patterns_) {
      const uint32_t miss = pattern.misses[end] - pattern.misses[begin];
      total.Add(pattern.log_prior + LogHits(edges_[end] - edges_[begin], miss) - miss * log_slots_);
    }
    for (const Rhythm& rhythm : rhythms_) total.Add(AtRhythm(rhythm, begin, end));
    return total.value();
  }

  static double AtRate(const Rates& rates, size_t begin, size_t end) {
    LogTotal total;
    for (size_t i = 0; i < rates.prefix.size(); ++i) {
      total.Add(rates.prefix[i][end] - rates.prefix[i][begin] + rates.log_prior[i]);
    }
    return total.value();
  }

  // At a constant rate, at random or in a pattern.
  double GoingOn(size_t begin, size_t end) const {
    return LogSum(AtRate(constant_, begin, end) + std::log(1 - prior_.patterned),
                  Patterned(begin, end) + std::log(prior_.patterned));
  }

  // Leaks that begin at the end of set-up, or later with a step that left something.
  std::vector<Start> Starts() const {
    const size_t last = bins();
    std::vector<Start> starts;
    for (const Start& setup : setups_) {
      starts.push_back(
          {setup.edge, false, setup.log_likelihood + GoingOn(setup.edge, last) + std::log(prior_.from_setup)});
    }
    for (size_t bin = 0; bin < last; ++bin) {
      if (nonempty_[bin + 1] == nonempty_[bin]) continue;
      LogTotal before;
      for (const Start& setup : setups_) {
        if (bin <= setup.edge) continue;
        before.Add(setup.log_likelihood + Quiet(setup.edge, bin) + std::log(1 - prior_.from_setup) -
                   std::log(std::max<Step>(1, end_ - edges_[setup.edge])));
      }
      if (before.value() == kNever) continue;
      starts.push_back({bin, true, before.value() + GoingOn(bin, last) + std::log(edges_[bin + 1] - edges_[bin])});
    }
    return starts;
  }

  double OneTime() const {
    LogTotal total;
    for (const Start& setup : setups_) total.Add(setup.log_likelihood + Quiet(setup.edge, bins()));
    return total.value();
  }

  double Filled() const {
    // In the last bin nothing shows that it stopped.
    LogTotal total;
    for (const Start& setup : setups_) {
      const double span = std::log(std::max<Step>(1, end_ - edges_[setup.edge]));
      for (size_t end = setup.edge + 1; end < bins(); ++end) {
        const double rest = Quiet(end, bins());
        total.Add(setup.log_likelihood + GoingOn(setup.edge, end) + rest + std::log(edges_[end + 1] - edges_[end]) -
                  span);
      }
    }
    return total.value();
  }

  double AtShape(const std::vector<double>& shape) const {
    const Rates rates = RatePrefix(shape, /*spans=*/false);
    LogTotal total;
    for (const Start& setup : setups_) total.Add(setup.log_likelihood + AtRate(rates, setup.edge, bins()));
    return total.value();
  }

  template <typename Shape>
  std::vector<double> ShapeOf(Shape shape) const {
    std::vector<double> values;
    for (size_t bin = 0; bin < bins(); ++bin) values.push_back(shape((edges_[bin] + edges_[bin + 1] - 1) / 2.0));
    return values;
  }

  double Accelerating() const {
    LogTotal total;
    for (const double power : kSpeedups) {
      total.Add(AtShape(ShapeOf([&](double t) { return std::pow((t + 1) / end_, power); })));
    }
    return total.value() - std::log(std::size(kSpeedups));
  }

  // At a rate that changes once: it has the same prior afterwards, but for what would be too large a change.
  double ChangedOnce() const {
    const size_t last = bins();
    LogTotal total;
    for (size_t place = 1; place < kPlaces; ++place) {
      const size_t edge = last * place / kPlaces;
      for (size_t before = 0; before < constant_.prefix.size(); ++before) {
        LogTotal until;
        for (const Start& setup : setups_) {
          if (setup.edge < edge) {
            until.Add(setup.log_likelihood + constant_.prefix[before][edge] - constant_.prefix[before][setup.edge]);
          }
        }
        LogTotal after, prior;
        for (size_t i = 0; i < constant_.prefix.size(); ++i) {
          if (constant_.burst[i] != constant_.burst[before]) continue;
          const double change = std::abs(constant_.log_rate[i] - constant_.log_rate[before]);
          if (change > kLogLargestChange) continue;
          after.Add(constant_.prefix[i][last] - constant_.prefix[i][edge] + constant_.log_weight[i]);
          prior.Add(constant_.log_weight[i]);
        }
        total.Add(constant_.log_prior[before] + until.value() + after.value() - prior.value());
      }
    }
    return total.value() - std::log(kPlaces - 1);
  }

  // At a falling rate, at random or in a rhythm that slows down.
  double Filling() const {
    LogTotal total;
    for (const double scale : kCacheScales) {
      for (const double power : kCachePowers) {
        const double steps = scale / group_ / evidence_.width;
        const std::vector<double> shape = ShapeOf([&](double t) { return std::pow(1 + t / steps, -power); });
        total.Add(AtShape(shape));
        for (const double uneven : kUneven) {
          const Rhythm rhythm = RhythmOf(shape, uneven);
          for (const Start& setup : setups_) {
            total.Add(setup.log_likelihood + std::log(prior_.patterned) + AtRhythm(rhythm, setup.edge, bins()));
          }
        }
      }
    }
    return total.value() - std::log(std::size(kCacheScales) * std::size(kCachePowers));
  }

  // That an ordinary object lives for longer than from this edge to the end of the run. Lives are uniform up to a bound
  // that is not known (its prior is one over the bound); `releases` of them were seen.
  double LogUnfreed(size_t edge) const {
    const double age = evidence_.steps - StepOf(edges_[edge]);
    const bool seen = evidence_.releases > 0;
    const double releases = seen ? evidence_.releases : 1, longest = seen ? evidence_.longest : 1;
    return releases * std::log((longest + 1) / std::max(age, longest + 1)) - std::log(releases + 1);
  }

  void Weigh(Posterior* result) const {
    LogTotal leak, other;
    double most = kNever, most_other = kNever;
    for (size_t i = 0; i < kModels; ++i) {
      const auto model = static_cast<Model>(i);
      const double weight = result->log_weight[i];
      const bool is_leak = model == Model::kLeak || model == Model::kAccelerating;
      (is_leak ? leak : other).Add(weight);
      if (weight > most) {
        most = weight;
        result->likeliest = model;
      }
      if (!is_leak && weight > most_other) {
        most_other = weight;
        result->alternative = model;
      }
    }
    result->log_odds = leak.value() - other.value();
  }

  const Evidence& evidence_;
  const Prior& prior_;
  Step group_ = 1, end_ = 1;  // steps that are taken together; number of such groups
  uint32_t slots_ = 1;        // a step has so many
  double log_slots_ = 0;
  std::vector<uint32_t> filled_;                     // of each step
  std::vector<Step> edges_;                          // of bins
  std::vector<double> objects_, nonempty_, choose_;  // before each edge
  std::vector<Step> at_;                             // the steps that have objects
  uint32_t usual_ = 0;                               // the number of objects that most of them have
  std::vector<Start> setups_;
  std::vector<Pattern> patterns_;
  std::vector<Rhythm> rhythms_;
  std::array<bool, std::size(kBursts)> likely_{};
  Rates constant_;
};

}  // namespace

bool Posterior::is_leak(const Prior& prior) const { return log_odds > std::log(prior.odds); }
bool Posterior::is_clean(const Prior& prior) const { return log_odds < -std::log(prior.odds); }
bool Posterior::accelerates(const Prior& prior) const {
  const auto weight = [this](Model model) { return log_weight[static_cast<size_t>(model)]; };
  return weight(Model::kAccelerating) - weight(Model::kLeak) > std::log(prior.odds);
}

Posterior JudgeEvidence(const Evidence& evidence, double keepers, const Prior& prior) {
  return SurvivorModel(evidence, prior).Judge(keepers);
}

Step RarestLeak(Step steps, const Prior& prior) {
  Step rarest = 0;
  for (Step period = 1; 2 * period < steps; period *= 2) {
    Evidence evidence;
    evidence.steps = steps;
    evidence.end = steps - 1;
    for (Step step = period - 1; step < evidence.end; step += period) evidence.left.push_back({step, 1, 1});
    if (!evidence.any() || !JudgeEvidence(evidence, 0, prior).is_leak(prior)) break;
    rarest = period;
  }
  return rarest;
}

}  // namespace vramtrack
