// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CUPTI_ACTIVITY_STREAM_H_
#define ANALYZER_CUPTI_ACTIVITY_STREAM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/cupti/activity_clock.h"
#include "analyzer/ingest/trace.h"
#include "proto/activity_decoder.h"

namespace vramtrack {

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
  // Frames that made no sense.
  uint64_t unreadable_frames() const { return unreadable_frames_; }

 private:
  void LoadFrame();

  const Trace& trace_;
  ActivityClock clock_;
  std::map<uint32_t, std::string> texts_;
  std::vector<DecodedSpan> spans_;
  uint64_t first_tie_ = 0, last_tie_ = 0;
  uint32_t version_ = 0;
  uint64_t unreadable_frames_ = 0;
  size_t next_frame_ = 0;
  std::vector<ActivityRecord> pending_;  // a heap: the earliest first
};

}  // namespace vramtrack

#endif  // ANALYZER_CUPTI_ACTIVITY_STREAM_H_
