// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/run_clock.h"

#include <algorithm>

#include "analyzer/base/median.h"

namespace vramtrack {

void RunClock::Add(uint64_t time, double work, double events, bool spread) {
  samples_.push_back({time, work, std::max(events, 1.0), spread});
  work_ += work;
  events_ += events;
}

void RunClock::Finish() {
  const auto earlier = [](const Sample& a, const Sample& b) { return a.time < b.time; };
  if (!std::is_sorted(samples_.begin(), samples_.end(), earlier)) {
    std::stable_sort(samples_.begin(), samples_.end(), earlier);
  }
  if (samples_.empty()) return;
  // Many that are spread have one time.
  size_t kept = 0;
  for (size_t i = 1; i < samples_.size(); ++i) {
    if (samples_[i].time != samples_[kept].time) {
      samples_[++kept] = samples_[i];
      continue;
    }
    samples_[kept].work += samples_[i].work;
    samples_[kept].events += samples_[i].events;
    samples_[kept].spread |= samples_[i].spread;
  }
  samples_.resize(kept + 1);
  has_work_ = work_ > 0 && work_ >= kLeastWork * events_;
  begin_ = samples_.front().time;
  end_ = samples_.back().time;
  if (has_work_) {
    const auto first = std::find_if(samples_.begin(), samples_.end(), [](const Sample& s) { return s.work > 0; });
    begin_ = first->time;
    // Usually an object goes soon after the last one came; both must be seen.
    if (last_allocation_ > begin_) end_ = std::min(end_, last_allocation_);
  }
  const auto covered = [this](size_t i) { return samples_[i - 1].time >= begin_ && samples_[i].time <= end_; };
  const auto gap = [this](size_t i) { return static_cast<double>(samples_[i].time - samples_[i - 1].time); };
  double longest[2] = {};  // an event, of samples with their own time and of those that are spread
  for (const bool spread : {false, true}) {
    std::vector<double> gaps;
    for (size_t i = 1; i < samples_.size(); ++i) {
      if (samples_[i].spread == spread && covered(i)) gaps.push_back(gap(i) / samples_[i].events);
    }
    if (gaps.empty()) continue;
    longest[spread] = kLongestPause * std::max(UpperMedian(std::move(gaps)), 1.0);
  }
  double work = 0;
  work_sums_.reserve(samples_.size());
  time_sums_.reserve(samples_.size());
  for (size_t i = 0; i < samples_.size(); ++i) {
    if (i > 0 && covered(i)) active_ += std::min(gap(i), longest[samples_[i].spread] * samples_[i].events);
    // The work of a sample was done before it.
    work += samples_[i].time <= end_ ? samples_[i].work : 0;
    work_sums_.push_back(work);
    time_sums_.push_back(active_);
  }
  work_ = work;
}

// Between two samples a sum grows evenly.
double RunClock::SumAt(const std::vector<double>& sums, uint64_t time) const {
  const auto after = std::upper_bound(samples_.begin(), samples_.end(), time,
                                      [](uint64_t at, const Sample& sample) { return at < sample.time; });
  if (after == samples_.begin()) return 0;
  const auto before = static_cast<size_t>(after - samples_.begin()) - 1;
  if (after == samples_.end()) return sums[before];
  const double part =
      static_cast<double>(time - samples_[before].time) / static_cast<double>(after->time - samples_[before].time);
  return sums[before] + part * (sums[before + 1] - sums[before]);
}

double RunClock::Work(uint64_t time) const {
  if (!has_work_ || work_ <= 0) return Time(time);
  return SumAt(work_sums_, time) / work_;
}

double RunClock::Time(uint64_t time) const {
  if (samples_.empty() || time <= begin_) return 0;
  if (time >= end_ || active_ <= 0) return 1;
  return std::min(1.0, SumAt(time_sums_, time) / active_);
}

uint64_t RunClock::When(double share) const {
  const auto both = [this](const Sample& sample, double wanted) { return Both(sample.time) < wanted; };
  const auto found = std::lower_bound(samples_.begin(), samples_.end(), share, both);
  return found == samples_.end() ? end_ : found->time;
}

}  // namespace vramtrack
