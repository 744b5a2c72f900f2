// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/buffer_growth.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vramtrack {
namespace {

constexpr size_t kMostWindows = 12;
// Fewer windows than these, of two bins each, are no evidence.
constexpr size_t kLeastWindows = kWindows;
constexpr double kRisingShare = 0.75;
// The later half of the span rises at least this share of what the earlier half does; less fades.
constexpr double kLateShare = 0.5;
// What fades rises less than this in the last quarter of the span, of all that it rises by.
constexpr double kGoingOnShare = 0.15;
// The rest of the growth is due to a larger number of objects.
constexpr double kBySizeShare = 0.5;
// Of the span's growth: a level above the first was a tooth of a saw, a level below the second is the end of one.
constexpr double kToothShare = 0.25, kResetShare = 0.1;
// After two teeth of a saw, one that is so many times as long as the longest of them may be another one; beyond the
// second factor it is not.
constexpr double kSameTooth = 1.5, kOtherTooth = 3;
// What began to grow within the run may be given back in its rest, as a sequence is that is generated and dropped. It
// is believed when it spans this share of the judged steps.
constexpr double kOnsetShare = 0.5;
// Rises that settle a buffer that grows rarely, and from how many on it is suspicious.
constexpr size_t kRareRises = 4, kSuspiciousRises = 3;
constexpr size_t kMostRises = 6;
// Gaps between rises that are alike: the longest is so many times the shortest at most.
constexpr size_t kLikeGaps = 2;
// How far the pace between rises may vary, in both directions, and how far apart they must be for a pace to tell
// anything. A buffer that grows because it is full becomes larger by so many times at least: growing by less costs more
// copies than it saves. The longest of many batches grows by less.
constexpr double kPace = 1.4, kLeastGapBins = 3, kLeastFactor = 1.3;
// Steps left out at the end: the last ones are those in which a job may clean up already.
constexpr Step kLeftOut = 2;
// How likely one more rise keeps the pace of the others by chance.
constexpr double kChanceOfRise = 0.05;

// How likely chance makes the floor rise in so many of the windows: in a series that does not grow, what is left after
// the start of a window has its lowest value in that window with a probability of one over the windows left.
double ChanceOf(uint32_t rises, uint32_t windows) {
  std::vector<double> chance(windows + 1, 0);
  chance[0] = 1;
  for (uint32_t left = 1; left <= windows; ++left) {
    for (uint32_t count = left; count > 0; --count) {
      chance[count] = chance[count] * (1 - 1.0 / left) + chance[count - 1] / left;
    }
    chance[0] *= 1 - 1.0 / left;
  }
  double tail = 0;
  for (uint32_t count = rises; count <= windows; ++count) tail += chance[count];
  return tail;
}

struct Rise {
  size_t bin = 0;
  double before = 0, after = 0;  // bytes
};

class BufferJudge {
 public:
  BufferJudge(const std::vector<SiteLevel>& levels, Step width, const RunShape& run, bool none_stays)
      : width_(width), run_(run), none_stays_(none_stays) {
    const size_t end = run.steps > kLeftOut ? (run.steps - kLeftOut) / width_ : 0;
    low_.assign(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(std::min(end, levels.size())));
    floor_ = low_;
    for (size_t i = floor_.size(); i-- > 1;) {
      if (floor_[i].bytes < floor_[i - 1].bytes) floor_[i - 1] = floor_[i];
    }
    first_ = std::min<size_t>((run.warmup_end + width_ - 1) / width_, low_.size());
  }

  BufferGrowth Run() {
    if (low_.size() < first_ + 2 || Floor(low_.size() - 1) <= Floor(first_)) return growth_;
    FindSpan();
    growth_.more_objects = !BySize(begin_, low_.size() - 1);
    if (growth_.more_objects && !none_stays_) return growth_;
    FindTeeth();
    growth_.trend = Decide();
    if (growth_.more_objects) return growth_;
    if (growth_.trend == BufferTrend::kNone || growth_.trend == BufferTrend::kUndecided) TryRareRises();
    return growth_;
  }

 private:
  double Floor(size_t bin) const { return static_cast<double>(floor_[bin].bytes); }
  Step StepOf(size_t bin) const { return static_cast<Step>(std::min<uint64_t>(uint64_t{bin} * width_, run_.steps)); }
  size_t judged() const { return low_.size() - first_; }
  size_t spanned() const { return low_.size() - begin_; }

  // From the last bin on in which the site was as low as ever since warm-up.
  void FindSpan() {
    begin_ = first_;
    while (begin_ + 1 < low_.size() && floor_[begin_ + 1].bytes == floor_[first_].bytes) ++begin_;
    // A pause of a window at the beginning is no onset.
    growth_.onset_seen = begin_ >= first_ + std::max<size_t>(2, judged() / kMostWindows);
    if (!growth_.onset_seen) begin_ = first_;
    growth_.span = {StepOf(begin_), StepOf(low_.size())};
    growth_.from_bytes = floor_[begin_].bytes;
    growth_.to_bytes = floor_.back().bytes;
    growth_.objects = floor_.back().objects;
    CutInto(static_cast<uint32_t>(std::clamp<size_t>(spanned() / 2, 1, kMostWindows)));
    const BufferGrowth fine = growth_;
    // What rises in every fourth step needs longer windows in a short run.
    if (!RisesOften() && growth_.windows > kLeastWindows && NeverFalls()) CutInto(kLeastWindows);
    if (!RisesOften()) growth_ = fine;
  }

  void CutInto(uint32_t windows) {
    growth_.windows = windows;
    growth_.rises = 0;
    for (uint32_t i = 0; i < windows; ++i) growth_.rises += Floor(Edge(i + 1)) > Floor(Edge(i));
  }

  size_t Edge(size_t window) const { return std::min(begin_ + window * spanned() / growth_.windows, low_.size() - 1); }

  // Whether larger objects, not more of them, make up half of the growth at least.
  bool BySize(size_t from, size_t to) const {
    while (from < to && floor_[from].objects == 0) ++from;
    const SiteLevel &first = floor_[from], &last = floor_[to];
    if (first.objects == 0 || last.objects == 0 || last.bytes <= first.bytes) return first.objects > 0;
    const double grown = static_cast<double>(last.bytes - first.bytes);
    const double larger = static_cast<double>(last.bytes) / static_cast<double>(last.objects) -
                          static_cast<double>(first.bytes) / static_cast<double>(first.objects);
    return larger * static_cast<double>(std::min(first.objects, last.objects)) >= kBySizeShare * grown;
  }

  // Before the span: how often what had grown by a good part of what the span has was given back, and after how long.
  void FindTeeth() {
    const double grown = Floor(low_.size() - 1) - Floor(begin_);
    const double high = Floor(begin_) + kToothShare * grown, low = Floor(begin_) + kResetShare * grown;
    size_t start = 0;
    bool in_tooth = false;
    for (size_t i = 0; i <= begin_ && i < low_.size(); ++i) {
      const auto level = static_cast<double>(low_[i].bytes);
      in_tooth |= level >= high;
      if (level > low) continue;
      if (in_tooth) {
        ++growth_.resets;
        longest_tooth_ = std::max(longest_tooth_, i - start);
      }
      in_tooth = false;
      start = i;
    }
  }

  BufferTrend Decide() {
    if (growth_.resets >= 2 && static_cast<double>(spanned()) <= kSameTooth * static_cast<double>(longest_tooth_)) {
      return BufferTrend::kNone;
    }
    if (growth_.windows < kLeastWindows || !RisesOften()) return BeatsOn();
    const size_t half = growth_.windows / 2;
    const double early = Floor(Edge(half)) - Floor(Edge(0)), late = Floor(low_.size() - 1) - Floor(Edge(half));
    if (late < kLateShare * early) {
      // Allocators round: a block that is left over may be larger than asked for by as much as many steps add.
      if (LastShare() < kGoingOnShare) return BufferTrend::kFades;
      growth_.further_steps = static_cast<Step>(spanned() * width_);
      return BufferTrend::kUndecided;
    }
    if (HasStopped()) return BufferTrend::kFades;
    Estimate();
    size_t needed = 2 * kLeastWindows;
    if (growth_.resets > 0) {
      needed = std::max(needed, static_cast<size_t>(std::ceil(kOtherTooth * static_cast<double>(longest_tooth_))) + 1);
    } else if (growth_.onset_seen) {
      // The span grows with the run, what was before it does not.
      const auto before = static_cast<double>(begin_ - first_);
      needed = std::max(needed, static_cast<size_t>(std::ceil(before * kOnsetShare / (1 - kOnsetShare))));
    }
    if (spanned() >= needed) {
      growth_.p_value = ChanceOf(growth_.rises, growth_.windows);
      return BufferTrend::kGrows;
    }
    const double bins = static_cast<double>(needed - spanned());
    // A span that begins with the judged steps moves with warm-up, which is a tenth of the run.
    growth_.further_steps = static_cast<Step>(std::ceil(bins * width_ / (begin_ == first_ ? 0.9 : 1))) + 1;
    return BufferTrend::kUndecided;
  }

  bool NeverFalls() const {
    for (size_t i = first_ + 1; i < low_.size(); ++i) {
      if (low_[i].bytes < low_[i - 1].bytes) return false;
    }
    return true;
  }

  // It rose in nearly all windows, and in none of the last two.
  bool HasStopped() const { return Floor(low_.size() - 1) <= Floor(Edge(growth_.windows - 2)); }

  // Of what the floor rises by in the span, the share of the last quarter.
  double LastShare() const {
    const double last = Floor(low_.size() - 1) - Floor(Edge(growth_.windows - growth_.windows / 4));
    return last / (Floor(low_.size() - 1) - Floor(begin_));
  }

  // A level that never falls and goes on to rise, but not yet in enough windows: at gaps that are alike up to the end,
  // or in half of the windows.
  BufferTrend BeatsOn() {
    if (growth_.resets > 0 || !NeverFalls()) return BufferTrend::kNone;
    if (!growth_.onset_seen && growth_.windows >= kLeastWindows && 2 * growth_.rises >= growth_.windows &&
        LastShare() >= kGoingOnShare) {
      growth_.further_steps = static_cast<Step>(spanned() * width_);
      return BufferTrend::kUndecided;
    }
    size_t last = 0, longest = 0, shortest = low_.size(), rises = 0;
    for (size_t i = first_ + 1; i < low_.size(); ++i) {
      if (low_[i].bytes == low_[i - 1].bytes) continue;
      if (rises++ > 0) {
        longest = std::max(longest, i - last);
        shortest = std::min(shortest, i - last);
      }
      last = i;
    }
    if (rises < kSuspiciousRises || longest > kLikeGaps * shortest || low_.size() - last > longest + 1) {
      return BufferTrend::kNone;
    }
    const double needed = static_cast<double>(kLeastWindows * longest) + 2;
    const double bins = std::max(1.0, needed - static_cast<double>(judged()));
    growth_.further_steps = static_cast<Step>(std::ceil(bins * width_ / 0.9)) + 1;
    return BufferTrend::kUndecided;
  }

  // Of few windows, nearly all of them have to rise.
  bool RisesOften() const {
    if (growth_.windows < kMostWindows) return growth_.rises + 1 >= growth_.windows;
    return growth_.rises >= kRisingShare * growth_.windows;
  }

  // From the first rise to the last: exact where the floor rises in every step or in equal stairs. Not in the last
  // window: whatever goes up and down above the floor has had no time to come down again.
  void Estimate() {
    size_t from = begin_ + 1, to = Edge(growth_.windows - 1);
    while (from < to && floor_[from].bytes == floor_[from - 1].bytes) ++from;
    while (to > from && floor_[to].bytes == floor_[to - 1].bytes) --to;
    if (to <= from) {
      from = begin_;
      to = low_.size() - 1;
    }
    std::vector<double> increments;
    for (size_t i = from; i < to; ++i) increments.push_back((Floor(i + 1) - Floor(i)) / width_);
    growth_.bytes_per_step = (Floor(to) - Floor(from)) / (static_cast<double>(to - from) * width_);
    const auto block = static_cast<uint32_t>(std::lround(std::cbrt(static_cast<double>(increments.size()))));
    growth_.interval = BootstrapMean(increments, std::max<uint32_t>(1, block));
  }

  std::vector<Rise> Rises() const {
    std::vector<Rise> rises;
    for (size_t i = 0; i < floor_.size(); ++i) {
      const double before = i == 0 ? 0 : Floor(i - 1);
      if (Floor(i) <= before) continue;
      if (!rises.empty() && i == rises.back().bin + 1 && rises.size() > 1) {
        // A new buffer and the old one beside it, or one rise in two bins.
        rises.back().after = Floor(i);
        continue;
      }
      rises.push_back({i, before, Floor(i)});
    }
    return rises;
  }

  // A buffer that is replaced by a larger one whenever it is full was just full at each rise: between two rises as much
  // was added as it had become larger by before. If that pace is the same each time, what is in it grows with the run.
  void TryRareRises() {
    if (growth_.resets > 0 || RisesOften()) return;
    const std::vector<Rise> rises = Rises();
    double low = 0, high = 1e300;
    size_t agreeing = 0;
    const auto agrees = [&](double bytes, double bins) {
      const double slowest = bytes / (bins + 1) / kPace, fastest = bytes / std::max(bins - 1, 0.5) * kPace;
      if (std::max(low, slowest) > std::min(high, fastest)) return false;
      low = std::max(low, slowest);
      high = std::min(high, fastest);
      return true;
    };
    size_t k = rises.size();
    while (k >= 2 && agreeing < kMostRises) {
      const Rise &here = rises[k - 2], &next = rises[k - 1];
      if (static_cast<double>(next.bin - here.bin) < kLeastGapBins) break;
      if (next.after < kLeastFactor * next.before) break;
      if (!agrees(next.before - here.before, static_cast<double>(next.bin - here.bin))) break;
      ++agreeing;
      --k;
    }
    if (agreeing + 1 < kSuspiciousRises) return;
    const Rise& last = rises.back();
    const Rise& first = rises[k - 1];
    if (last.bin < first_ || !BySize(first.bin, low_.size() - 1)) return;
    const double pace = (last.before - first.before) / static_cast<double>(last.bin - first.bin);
    if (pace <= 0) return;
    // It is full again by then; if it is not, less is added than before.
    const double next_bin = static_cast<double>(last.bin) + (last.after - last.before) / pace;
    const double overdue = static_cast<double>(last.bin) + (last.after - last.before) / low + 1;
    if (static_cast<double>(low_.size()) > overdue) return;
    growth_.bytes_per_step = pace / width_;
    growth_.interval = {low / width_, high / width_};
    growth_.span = {StepOf(first.bin), StepOf(low_.size())};
    growth_.from_bytes = static_cast<uint64_t>(first.before);
    growth_.to_bytes = static_cast<uint64_t>(last.after);
    growth_.onset_seen = false;
    growth_.rises = static_cast<uint32_t>(agreeing + 1);
    if (agreeing + 1 >= kRareRises) {
      growth_.p_value = std::pow(kChanceOfRise, static_cast<double>(agreeing + 1));
      growth_.trend = BufferTrend::kGrowsRarely;
      return;
    }
    growth_.trend = BufferTrend::kUndecided;
    const double bins = std::max(1.0, next_bin - static_cast<double>(low_.size()) + 1);
    growth_.further_steps = static_cast<Step>(std::ceil(kPace * bins * width_)) + kLeftOut;
  }

  const Step width_;
  const RunShape& run_;
  const bool none_stays_;
  std::vector<SiteLevel> low_, floor_;  // by bin
  size_t first_ = 0;                    // judged bin
  size_t begin_ = 0;                    // of the span
  size_t longest_tooth_ = 0;            // bins
  BufferGrowth growth_;
};

}  // namespace

BufferGrowth JudgeLevels(const StepLevels& levels, const RunShape& run, bool none_stays) {
  // Within a step, wherever steps end: the new buffer beside the old one counts for nothing. One that is freed before
  // the next one is made has kept nothing: it is an input that becomes longer.
  return BufferJudge(levels.least, levels.steps_per_bin, run, none_stays).Run();
}

namespace {

// Of what `mean` says of the later part of the run and of the earlier one.
template <typename Mean>
double LateToEarly(const std::vector<SiteBirths>& births, Mean mean) {
  if (births.size() < 3) return 0;
  const SiteBirths& end = births.back();
  // The later part is a quarter of the run at least and three quarters of it at most.
  size_t middle = births.size() - 2;
  while (middle > 0 && 4 * uint64_t{births[middle].step} > 3 * uint64_t{end.step}) --middle;
  size_t begin = middle;
  while (begin > 0 && 8 * uint64_t{births[begin - 1].step} >= end.step) --begin;
  if (births[middle].objects < births[begin].objects + 2 || end.objects < births[middle].objects + 2) return 0;
  const double before = mean(births[begin], births[middle]), after = mean(births[middle], end);
  return before > 0 && after > 0 ? after / before : 0;
}

}  // namespace

double SizeRatio(const std::vector<SiteBirths>& births) {
  return LateToEarly(births, [](const SiteBirths& from, const SiteBirths& to) {
    return static_cast<double>(to.bytes - from.bytes) / static_cast<double>(to.objects - from.objects);
  });
}

double NumberRatio(const std::vector<SiteBirths>& births) {
  return LateToEarly(births, [](const SiteBirths& from, const SiteBirths& to) {
    return static_cast<double>(to.objects - from.objects) / std::max(1.0, static_cast<double>(to.step - from.step));
  });
}

}  // namespace vramtrack
