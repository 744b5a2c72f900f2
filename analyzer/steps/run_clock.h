// SPDX-License-Identifier: Apache-2.0
//
// How much of a run is over at an instant: by its work, and by the time in which it was active.
#ifndef ANALYZER_STEPS_RUN_CLOCK_H_
#define ANALYZER_STEPS_RUN_CLOCK_H_

#include <cstdint>
#include <vector>

namespace vramtrack {

// Two clocks that go from 0 to 1 over a run. Work counts what comes and goes: objects that are freed soon after they
// were allocated. Set-up, which only takes, and the end of a process, which only frees, do hardly any. Active time
// counts a pause for kLongestPause usual gaps between two events at most, of each event that a sample stands for. Where
// hardly anything is freed soon, time is all there is to go by. What a trace of bounded size knows of its past has
// times that are spread evenly, over pauses too, and so has usual gaps of its own. Memory: 48 bytes a sample.
// Thread-compatible once it is finished.
class RunClock {
 public:
  static constexpr double kLongestPause = 20;
  // With less work than this share of all events, work says nothing.
  static constexpr double kLeastWork = 0.02;

  // Something happened at `time` (ticks), and `work` objects that live shortly have gone since the sample before.
  // `events`: how many events the sample stands for. `spread`: its time is spread over what is known in sums. In any
  // order.
  void Add(uint64_t time, double work, double events, bool spread = false);
  // Objects were allocated up to this instant: what comes after the last one is the end of the process.
  void AllocatedAt(uint64_t time) { last_allocation_ = last_allocation_ > time ? last_allocation_ : time; }
  // To be called once, after the last sample.
  void Finish();

  bool empty() const { return samples_.empty(); }
  bool has_work() const { return has_work_; }
  // Objects that live shortly, in the whole run.
  double work() const { return work_; }
  // The part of the run that both clocks cover, in ticks. What comes before and after it is 0 and 1.
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }

  // Shares of what was before `time`, 0 to 1. Work() is Time() where there is no work to go by.
  double Work(uint64_t time) const;
  double Time(uint64_t time) const;
  // The mean of the two.
  double Both(uint64_t time) const { return (Work(time) + Time(time)) / 2; }
  // The first sample's time at which Both() is at least `share`.
  uint64_t When(double share) const;

 private:
  struct Sample {
    uint64_t time;
    double work, events;
    bool spread;
  };

  double SumAt(const std::vector<double>& sums, uint64_t time) const;

  std::vector<Sample> samples_;    // by time
  std::vector<double> work_sums_;  // before each sample
  std::vector<double> time_sums_;  // the same
  double work_ = 0, events_ = 0, active_ = 0;
  uint64_t begin_ = 0, end_ = 0, last_allocation_ = 0;
  bool has_work_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_RUN_CLOCK_H_
