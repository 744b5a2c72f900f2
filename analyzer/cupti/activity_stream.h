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

// Converts CUPTI's nanoseconds to ticks of the trace. Interpolates linearly between the moments at which both clocks
// were read, so that a drift between the clocks does not accumulate.
class ActivityClock {
 public:
  // Adds a moment at which both clocks were read (a tie); the order does not matter. Call Freeze after the last one;
  // `ticks_per_second` is the rate before the first tie and after the last.
  void Add(uint64_t cupti_ns, uint64_t ticks);
  void Freeze(double ticks_per_second);

  // Returns 0 if there are no ties.
  uint64_t Ticks(uint64_t cupti_ns) const;

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ties_;  // sorted by nanoseconds
  double ticks_per_ns_ = 1;
};

// A span in which CUPTI was enabled but delivered no records, in ticks.
struct ActivityGap {
  uint64_t begin = 0, end = 0;
  std::string why;
  bool stopped = false;  // records arrived before, then the tracer stopped CUPTI
};

// Reads CUPTI's activity records of a trace, ordered by time, except for records that CUPTI delivered more than one
// frame late. Holds a few frames at a time. Thread-compatible.
class ActivityStream {
 public:
  explicit ActivityStream(const Trace& trace);

  // Reads the next record and its start in ticks. Returns false at the end.
  bool Next(ActivityRecord* record, uint64_t* ticks);

  // Returns the text of an ActivityRecord; empty for 0 and for an id that the trace does not define.
  const std::string& Text(uint32_t id) const;
  const ActivityClock& clock() const { return clock_; }
  // Returns CUPTI's version; 0 if there are no frames.
  uint32_t cupti_version() const { return version_; }
  // Returns the gaps until `end`, the end of the trace in ticks.
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
  std::vector<ActivityRecord> pending_;  // a heap with the earliest record first
};

}  // namespace vramtrack

#endif  // ANALYZER_CUPTI_ACTIVITY_STREAM_H_
