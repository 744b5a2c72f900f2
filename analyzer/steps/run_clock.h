// SPDX-License-Identifier: Apache-2.0
//
// Tells how much of a run is over at an instant, measured by its work and by its active time.
#ifndef ANALYZER_STEPS_RUN_CLOCK_H_
#define ANALYZER_STEPS_RUN_CLOCK_H_

#include <cstdint>
#include <vector>

namespace vramtrack {

// Two clocks that go from 0 to 1 over a run. The work clock counts short-lived objects: those that are freed soon after
// their allocation. Set-up, which only allocates, and the end of a process, which only frees, therefore do hardly any
// work. The active-time clock limits a pause to kLongestPause usual gaps between two events, for each event that a
// sample stands for. If hardly any objects are short-lived, only the time is used. Times in the past of a trace of
// bounded size are spread evenly, even over pauses; they therefore have their own usual gap. Memory: 48 bytes for each
// sample. Thread-compatible once it is finished.
class RunClock {
 public:
  static constexpr double kLongestPause = 20;
  // If there is less work than this share of all events, it is not used.
  static constexpr double kLeastWork = 0.02;

  // Adds a sample at `time`, in ticks. Samples may be added in any order. `work`: the number of short-lived objects
  // that were freed since the previous sample. `events`: how many events the sample stands for. `spread`: the time is
  // not recorded but spread evenly, because the events are known as sums only.
  void Add(uint64_t time, double work, double events, bool spread = false);
  // States that an object was allocated at `time`. Everything after the last such time is the end of the process.
  void AllocatedAt(uint64_t time) { last_allocation_ = last_allocation_ > time ? last_allocation_ : time; }
  // Must be called once, after the last sample and before any of the functions below.
  void Finish();

  bool empty() const { return samples_.empty(); }
  bool has_work() const { return has_work_; }
  // Returns the number of short-lived objects in the whole run.
  double work() const { return work_; }
  // The part of the run that both clocks cover, in ticks. The clocks are 0 before it and 1 after it.
  uint64_t begin() const { return begin_; }
  uint64_t end() const { return end_; }

  // Return the share of the run's work, or active time, before `time`, 0 to 1. Work() is Time() without has_work().
  double Work(uint64_t time) const;
  double Time(uint64_t time) const;
  // Returns the mean of Work() and Time().
  double Both(uint64_t time) const { return (Work(time) + Time(time)) / 2; }
  // Returns the time of the first sample at which Both() is at least `share`.
  uint64_t When(double share) const;

 private:
  struct Sample {
    uint64_t time;
    double work, events;
    bool spread;
  };

  double SumAt(const std::vector<double>& sums, uint64_t time) const;

  std::vector<Sample> samples_;    // by time
  std::vector<double> work_sums_;  // sum of the work before each sample
  std::vector<double> time_sums_;  // sum of the active time before each sample
  double work_ = 0, events_ = 0, active_ = 0;
  uint64_t begin_ = 0, end_ = 0, last_allocation_ = 0;
  bool has_work_ = false;
};

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_RUN_CLOCK_H_
