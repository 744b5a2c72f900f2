// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/posterior.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "analyzer/leaks/log_gamma.h"
#include "analyzer/leaks/survivor_bins.h"
#include "analyzer/leaks/survivor_patterns.h"

namespace vramtrack {
namespace {

// Rates that are integrated over: a grid from one object in twice the run to nearly all, and more of them, in standard
// errors, near the mean rates of the whole run and of its later half.
constexpr int kRates = 9;
constexpr double kNear[] = {-3, -2, -1.2, -.6, 0, .6, 1.2, 2, 3};
constexpr double kHighestRate = 0.97;
// A rate that changes does so at one of these places, by less than this factor.
constexpr size_t kPlaces = 12;
constexpr double kLogLargestChange = 1.4;
constexpr double kUnlikely = 6;  // log odds

// The likelihood of one series of survivors under each model. Spans are between edges of bins.
class SurvivorModel {
 public:
  SurvivorModel(const Evidence& evidence, const Prior& prior)
      : evidence_(evidence), prior_(prior), bins_(evidence), patterns_(bins_, prior) {
    MakeSetups();
    constant_ = RatePrefix(std::vector<double>(bins_.count(), 1.0), /*spans=*/true);
    DropBursts();
  }

  Posterior Judge(double keepers) {
    const size_t last = bins_.count();
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
    result.begin = bins_.StepOf(bins_.edges[likeliest->edge]);
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

  // The ends of set-up, with the likelihood of what came before: any steps may leave any number.
  void MakeSetups() {
    LogTotal later;
    for (const int steps : kSetupLengths) {
      if (2 * static_cast<Step>(steps) > bins_.end) break;
      const auto edge = static_cast<size_t>(
          std::lower_bound(bins_.edges.begin(), bins_.edges.end(), static_cast<Step>(steps)) - bins_.edges.begin());
      if (!setups_.empty() && setups_.back().edge == edge) continue;
      setups_.push_back({edge, false, -std::log1p(bins_.edges[edge])});
      if (edge > 0) later.Add(setups_.back().log_likelihood);
    }
    // That there is none has a prior of one half.
    setups_[0].log_likelihood = setups_.size() > 1 ? later.value() : 0;
    LogTotal all;
    for (const Start& setup : setups_) all.Add(setup.log_likelihood);
    for (Start& setup : setups_) {
      const double z = bins_.nonempty[setup.edge], steps = bins_.edges[setup.edge];
      setup.log_likelihood += -all.value() + LogBeta(z + .5, steps - z + .5) - LogBeta(.5, .5) - z * bins_.log_slots;
    }
  }

  // Accidents only: their number in a run is gamma distributed.
  double Quiet(size_t begin, size_t end) const {
    const double z = bins_.nonempty[end] - bins_.nonempty[begin], steps = bins_.edges[end] - bins_.edges[begin];
    const double shape = prior_.accidents, mean = shape * bins_.end;
    return LogRising(shape, z) + LogRising(mean, steps - z) - LogRising(shape + mean, steps) - z * bins_.log_slots;
  }

  // Slots are filled at a rate θ · shape(t). `spans`: spans in the middle of the run are asked for as well.
  Rates RatePrefix(const std::vector<double>& shape, bool spans) const {
    const size_t n = bins_.count();
    std::vector<double> nodes;
    const double low = std::log(0.5 / std::max<Step>(2, bins_.end) / bins_.slots), high = std::log(kHighestRate);
    for (int i = 0; i < kRates; ++i) nodes.push_back(low + (high - low) * i / (kRates - 1));
    for (const auto& [first, end] : {std::pair{size_t{0}, n}, {n / 2, n}, {size_t{0}, n / 2}}) {
      double found = 0, possible = 0;
      for (size_t bin = first; bin < end; ++bin) {
        found += bins_.objects[bin + 1] - bins_.objects[bin];
        possible += bins_.slots * shape[bin] * (bins_.edges[bin + 1] - bins_.edges[bin]);
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
    if (burst.steps == 1 && bins_.slots == 1) return false;
    return static_cast<Step>(burst.steps) <= std::max<Step>(1, bins_.end / kFewestBlocks);
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
    std::vector<double> prefix(bins_.edges.size(), 0);
    for (size_t bin = 0; bin < bins_.count(); ++bin) {
      const double p = std::min(rate * shape[bin], 0.999);
      const double k = bins_.objects[bin + 1] - bins_.objects[bin],
                   possible = bins_.slots * (bins_.edges[bin + 1] - bins_.edges[bin]);
      prefix[bin + 1] =
          prefix[bin] + k * std::log(p) + (possible - k) * std::log1p(-p) + bins_.choose[bin + 1] - bins_.choose[bin];
    }
    return prefix;
  }

  // In blocks of some steps the rate is drawn anew from a beta distribution.
  std::vector<double> InBursts(double rate, const std::vector<double>& shape, const Burst& burst) const {
    std::vector<double> prefix(bins_.edges.size(), 0);
    for (size_t first = 0; first < bins_.count();) {
      size_t end = first + 1;
      const Step block = bins_.edges[first] / static_cast<Step>(burst.steps);
      while (end < bins_.count() && bins_.edges[end] / static_cast<Step>(burst.steps) == block) ++end;
      const double steps = bins_.edges[end] - bins_.edges[first];
      double part = 0;
      for (size_t bin = first; bin < end; ++bin) part += shape[bin] * (bins_.edges[bin + 1] - bins_.edges[bin]);
      const double p = std::min(rate * part / steps, 0.999);
      const double a = std::max((1 - p) / burst.variation - p, 0.25), c = a * (1 - p) / p;
      const double k = bins_.objects[end] - bins_.objects[first], possible = bins_.slots * steps;
      const double whole = LogRising(a, k) + LogRising(c, possible - k) - LogRising(a + c, possible);
      for (size_t bin = first; bin < end; ++bin) {
        const double share = (bins_.edges[bin + 1] - bins_.edges[bin]) / steps;
        prefix[bin + 1] = prefix[bin] + std::max(whole * share, -1e9) + bins_.choose[bin + 1] - bins_.choose[bin];
      }
      first = end;
    }
    return prefix;
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
                  patterns_.Log(begin, end) + std::log(prior_.patterned));
  }

  // Leaks that begin at the end of set-up, or later with a step that left something.
  std::vector<Start> Starts() const {
    const size_t last = bins_.count();
    std::vector<Start> starts;
    for (const Start& setup : setups_) {
      starts.push_back(
          {setup.edge, false, setup.log_likelihood + GoingOn(setup.edge, last) + std::log(prior_.from_setup)});
    }
    for (size_t bin = 0; bin < last; ++bin) {
      if (bins_.nonempty[bin + 1] == bins_.nonempty[bin]) continue;
      LogTotal before;
      for (const Start& setup : setups_) {
        if (bin <= setup.edge) continue;
        before.Add(setup.log_likelihood + Quiet(setup.edge, bin) + std::log(1 - prior_.from_setup) -
                   std::log(std::max<Step>(1, bins_.end - bins_.edges[setup.edge])));
      }
      if (before.value() == kNever) continue;
      starts.push_back(
          {bin, true, before.value() + GoingOn(bin, last) + std::log(bins_.edges[bin + 1] - bins_.edges[bin])});
    }
    return starts;
  }

  double OneTime() const {
    LogTotal total;
    for (const Start& setup : setups_) total.Add(setup.log_likelihood + Quiet(setup.edge, bins_.count()));
    return total.value();
  }

  double Filled() const {
    // In the last bin nothing shows that it stopped.
    LogTotal total;
    for (const Start& setup : setups_) {
      const double span = std::log(std::max<Step>(1, bins_.end - bins_.edges[setup.edge]));
      for (size_t end = setup.edge + 1; end < bins_.count(); ++end) {
        const double rest = Quiet(end, bins_.count());
        total.Add(setup.log_likelihood + GoingOn(setup.edge, end) + rest +
                  std::log(bins_.edges[end + 1] - bins_.edges[end]) - span);
      }
    }
    return total.value();
  }

  double AtShape(const std::vector<double>& shape) const {
    const Rates rates = RatePrefix(shape, /*spans=*/false);
    LogTotal total;
    for (const Start& setup : setups_) total.Add(setup.log_likelihood + AtRate(rates, setup.edge, bins_.count()));
    return total.value();
  }

  template <typename Shape>
  std::vector<double> ShapeOf(Shape shape) const {
    std::vector<double> values;
    for (size_t bin = 0; bin < bins_.count(); ++bin)
      values.push_back(shape((bins_.edges[bin] + bins_.edges[bin + 1] - 1) / 2.0));
    return values;
  }

  double Accelerating() const {
    LogTotal total;
    for (const double power : kSpeedups) {
      total.Add(AtShape(ShapeOf([&](double t) { return std::pow((t + 1) / bins_.end, power); })));
    }
    return total.value() - std::log(std::size(kSpeedups));
  }

  // At a rate that changes once: it has the same prior afterwards, but for what would be too large a change.
  double ChangedOnce() const {
    const size_t last = bins_.count();
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
        const double steps = scale / bins_.group / evidence_.width;
        const std::vector<double> shape = ShapeOf([&](double t) { return std::pow(1 + t / steps, -power); });
        total.Add(AtShape(shape));
        for (const double uneven : kUneven) {
          const SurvivorPatterns::Rhythm rhythm = patterns_.RhythmOf(shape, uneven);
          for (const Start& setup : setups_) {
            total.Add(setup.log_likelihood + std::log(prior_.patterned) +
                      patterns_.AtRhythm(rhythm, setup.edge, bins_.count()));
          }
        }
      }
    }
    return total.value() - std::log(std::size(kCacheScales) * std::size(kCachePowers));
  }

  // That an ordinary object lives for longer than from this edge to the end of the run. Lives are uniform up to a bound
  // that is not known (its prior is one over the bound); `releases` of them were seen.
  double LogUnfreed(size_t edge) const {
    const double age = evidence_.steps - bins_.StepOf(bins_.edges[edge]);
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
  const SurvivorBins bins_;
  const SurvivorPatterns patterns_;
  std::vector<Start> setups_;
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
