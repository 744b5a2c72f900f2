// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/rank_votes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "analyzer/base/median.h"

namespace vramtrack {
namespace {

// One rank's vote of a place while its sites are gone through.
struct RankVote {
  bool leaks = false, not_enough = false, no_leak = false, per_step = true;
  RankRate bytes;
  RankRate led;  // what the process itself says of leaks as a whole
  double objects = 0;
};

void AddTo(RankRate* sum, const RankRate& more) {
  sum->rate += more.rate;
  sum->low += more.low;
  sum->high += more.high;
}

void AddLeak(const SiteRow& row, RankVote* vote) {
  vote->leaks = true;
  vote->per_step &= row.per_step;
  AddTo(&vote->bytes, {row.rate_bytes_per_step, row.rate_ci_low, row.rate_ci_high});
  if (row.leads) AddTo(&vote->led, {row.leak_bytes_per_step, row.leak_ci_low, row.leak_ci_high});
  vote->objects += row.rate_objects_per_step;
}

// What all ranks say of one place.
struct Votes {
  struct OfRank {
    const ReportRank* rank;
    RankRate bytes;
    double objects;
  };
  uint64_t not_enough = 0, no_leak = 0, per_step = 0;
  std::vector<OfRank> leaks;

  void Add(const ReportRank& rank, const RankVote& vote) {
    if (!vote.leaks) {
      ++(vote.not_enough ? not_enough : no_leak);
      return;
    }
    // The interval of a leak as a whole is its process's where both mean the same sites by it: those of its parts
    // do not add up.
    const bool same = std::fabs(vote.led.rate - vote.bytes.rate) <= 1e-9 * std::fabs(vote.bytes.rate);
    leaks.push_back({&rank, same ? vote.led : vote.bytes, vote.objects});
    per_step += vote.per_step;
  }
};

// The votes on all places. A place is only looked at where a rank has it.
class Poll {
 public:
  explicit Poll(size_t places) : rank_votes_(places), votes_(places) {}

  RankVote& Of(uint32_t place) {
    std::optional<RankVote>& vote = rank_votes_[place];
    if (!vote) {
      vote.emplace();
      touched_.push_back(place);
    }
    return *vote;
  }

  void Close(const ReportRank& rank) {
    for (const uint32_t place : touched_) {
      votes_[place].Add(rank, *rank_votes_[place]);
      rank_votes_[place].reset();
    }
    touched_.clear();
  }

  const Votes& votes(uint32_t place) const { return votes_[place]; }

 private:
  std::vector<std::optional<RankVote>> rank_votes_;
  std::vector<uint32_t> touched_;
  std::vector<Votes> votes_;
};

ReportAcross::Rate PooledRate(const Votes& votes, bool objects) {
  std::vector<RankRate> rates;
  for (const Votes::OfRank& leak : votes.leaks) {
    rates.push_back(objects ? RankRate{leak.objects, leak.objects, leak.objects} : leak.bytes);
  }
  ReportAcross::Rate pooled = PoolRates(rates);
  if (objects) pooled.of = RateOf::kObjects;
  for (size_t i = 0; i < rates.size(); ++i) {
    if (rates[i].rate != pooled.most) continue;
    pooled.most_rank = votes.leaks[i].rank->rank;
    pooled.most_pid = votes.leaks[i].rank->pid;
    break;
  }
  return pooled;
}

std::optional<ReportAcross> AcrossOf(size_t ranks, const Votes& votes, bool objects) {
  ReportAcross across;
  across.ranks = ranks;
  across.leak = votes.leaks.size();
  across.not_enough = votes.not_enough;
  across.no_leak = votes.no_leak;
  if (across.leak + across.not_enough + across.no_leak == 0) return std::nullopt;
  const bool comparable = votes.per_step == 0 || votes.per_step == votes.leaks.size();
  if (across.leak > 0 && comparable) across.rate = PooledRate(votes, objects);
  return across;
}

}  // namespace

void DescribeAcross(const std::vector<const JobProcess*>& ranks, const JoinedSites& joined,
                    std::vector<ReportSite>* sites) {
  if (ranks.size() < 2) return;
  const JoinedSites::Places& places = joined.places();
  Poll alone(places.size()), whole(places.size());  // each place for itself, and with the parts of its leak
  for (const JobProcess* process : ranks) {
    for (const SiteRow& row : process->sites) {
      const uint32_t place = places[row.site];
      if (row.vote == Vote::kLeak) {
        const ReportSiteIndex led_by = (*sites)[row.site.value()].part_of;
        const uint32_t leader = led_by.is_none() ? place : places[led_by];
        AddLeak(row, &alone.Of(place));
        AddLeak(row, &whole.Of(leader));
        // On another device it may lead a leak of its own.
        if (place != leader) AddLeak(row, &whole.Of(place));
        continue;
      }
      for (Poll* poll : {&alone, &whole}) {
        RankVote& vote = poll->Of(place);
        (row.vote == Vote::kNotEnough ? vote.not_enough : vote.no_leak) = true;
      }
    }
    alone.Close(process->rank);
    whole.Close(process->rank);
  }
  for (uint32_t i = 0; i < sites->size(); ++i) {
    ReportSite& site = (*sites)[i];
    const Poll& poll = site.part_of.is_none() ? whole : alone;
    site.across = AcrossOf(ranks.size(), poll.votes(places[ReportSiteIndex(i)]), site.level == Level::kHandle);
  }
}

namespace {

constexpr double kConfidence = 0.95;
constexpr double kNormalFactor = 1.959963984540054;
constexpr double kPi = 3.14159265358979323846;

// How likely Student's t is within plus and minus `t`: Abramowitz and Stegun, 26.7.3 and 26.7.4.
double StudentWithin(double t, uint64_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle), square = cosine * cosine;
  const bool odd = degrees % 2 != 0;
  double term = odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (uint64_t k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  return odd ? 2 / kPi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

}  // namespace

double StudentFactor(uint64_t degrees) {
  constexpr uint64_t kNearlyNormal = 200;
  if (degrees > kNearlyNormal) {
    // The first terms of Fisher's and Cornish's expansion: Abramowitz and Stegun, 26.7.5.
    const double z = kNormalFactor, n = static_cast<double>(degrees);
    const double first = (std::pow(z, 3) + z) / 4, second = (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / 96;
    return z + first / n + second / (n * n);
  }
  double low = kNormalFactor, high = 13;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (StudentWithin(middle, degrees) < kConfidence ? low : high) = middle;
  }
  return high;
}

ReportAcross::Rate PoolRates(const std::vector<RankRate>& rates) {
  const double n = static_cast<double>(rates.size());
  std::vector<double> sorted;
  double sum = 0, own = 0;
  for (const RankRate& one : rates) {
    sorted.push_back(one.rate);
    sum += one.rate;
    const double error = (one.high - one.low) / 2 / kNormalFactor;
    own += error * error;
  }
  std::sort(sorted.begin(), sorted.end());
  ReportAcross::Rate pooled;
  // The mean of what is the same is the same, to the last digit.
  pooled.mean = sorted.front() == sorted.back() ? sorted.front() : sum / n;
  double squares = 0;
  for (const double rate : sorted) squares += (rate - pooled.mean) * (rate - pooled.mean);
  pooled.least = sorted.front();
  pooled.most = sorted.back();
  pooled.median = Median(sorted);
  if (rates.size() == 1) {
    pooled.ci_low = rates[0].low;
    pooled.ci_high = rates[0].high;
    return pooled;
  }
  pooled.standard_deviation = std::sqrt(squares / (n - 1));
  const double of_spread = squares / (n - 1) / n, of_own = own / (n * n);
  const double error =
      of_spread >= of_own ? StudentFactor(rates.size() - 1) * std::sqrt(of_spread) : kNormalFactor * std::sqrt(of_own);
  pooled.ci_low = pooled.mean - error;
  pooled.ci_high = pooled.mean + error;
  return pooled;
}

}  // namespace vramtrack
