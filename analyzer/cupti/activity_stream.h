// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CUPTI_ACTIVITY_STREAM_H_
#define ANALYZER_CUPTI_ACTIVITY_STREAM_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/trace.h"
#include "proto/activity_decoder.h"

namespace vramtrack {

// CUPTI's nanoseconds as ticks of the trace: by the moments at which both clocks were read, and between two of them by
// a straight line, so that a drift of one against the other does not add up.
class ActivityClock {
 public:
  // Ties in any order; `ticks_per_second` before the first and after the last.
  void Add(uint64_t cupti_ns, uint64_t ticks);
  void Freeze(double ticks_per_second);

  // 0 without a tie.
  uint64_t Ticks(uint64_t cupti_ns) const;

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ties_;  // by ns
  double ticks_per_ns_ = 1;
};

// When CUPTI delivered no records though it was asked, in ticks.
struct ActivityGap {
  uint64_t begin = 0, end = 0;
  std::string why;
  bool stopped = false;  // they had been coming, and the tracer gave them up
};

// CUPTI's activity records of a trace, in the order of their times as events have them, but for those that CUPTI
// delivered more than a frame late. Holds a few frames at a time. Thread-compatible.
class ActivityStream {
 public:
  explicit ActivityStream(const Trace& trace);

  // The next record and when it began, in ticks. False at the end.
  bool Next(ActivityRecord* record, uint64_t* ticks);

  // Of an ActivityRecord; empty for 0 and for one that is not defined in the trace.
  const std::string& Text(uint32_t id) const;
  const ActivityClock& clock() const { return clock_; }
  // CUPTI's version, 0 without any frame.
  uint32_t cupti_version() const { return version_; }
  // Until `end`, which is that of the trace.
  std::vector<ActivityGap> Gaps(uint64_t end) const;

 private:
  void LoadFrame();

  const Trace& trace_;
  ActivityClock clock_;
  std::map<uint32_t, std::string> texts_;
  std::vector<DecodedSpan> spans_;
  uint64_t first_tie_ = 0, last_tie_ = 0;
  uint32_t version_ = 0;
  size_t next_frame_ = 0;
  std::vector<ActivityRecord> pending_;  // a heap: the earliest first
};

}  // namespace vramtrack

#endif  // ANALYZER_CUPTI_ACTIVITY_STREAM_H_
