// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cupti/activity_stream.h"

#include <algorithm>

namespace vramtrack {
namespace {

bool Later(const ActivityRecord& a, const ActivityRecord& b) { return a.start_ns > b.start_ns; }

// So many frames are looked at together: buffers of several threads come one behind the other.
constexpr size_t kFramesAhead = 4;

}  // namespace

ActivityStream::ActivityStream(const Trace& trace) : trace_(trace) {
  for (const FrameRef& frame : trace.activities()) {
    DecodedActivities header;
    if (!ReadActivitiesHeader(frame.payload, &header)) continue;
    version_ = header.cupti_version;
    clock_.Add(header.tie_cupti_ns, header.tie_ticks);
    if (first_tie_ == 0) first_tie_ = header.tie_ticks;
    last_tie_ = std::max(last_tie_, header.tie_ticks);
    for (const auto& [id, text] : header.texts) texts_[id] = std::string(text);
    spans_.insert(spans_.end(), header.spans.begin(), header.spans.end());
  }
  clock_.Freeze(trace.clock().ticks_per_second());
  for (size_t i = 0; i < kFramesAhead; ++i) LoadFrame();
}

void ActivityStream::LoadFrame() {
  if (next_frame_ == trace_.activities().size()) return;
  DecodedActivities frame;
  ReadActivities(trace_.activities()[next_frame_++].payload, &frame);
  for (const ActivityRecord& record : frame.records) {
    pending_.push_back(record);
    std::push_heap(pending_.begin(), pending_.end(), Later);
  }
}

bool ActivityStream::Next(ActivityRecord* record, uint64_t* ticks) {
  constexpr size_t kFewRecords = 8192;
  while (pending_.size() < kFewRecords && next_frame_ < trace_.activities().size()) LoadFrame();
  if (pending_.empty()) return false;
  std::pop_heap(pending_.begin(), pending_.end(), Later);
  *record = pending_.back();
  pending_.pop_back();
  *ticks = clock_.Ticks(record->start_ns);
  return true;
}

const std::string& ActivityStream::Text(uint32_t id) const {
  static const std::string& none = *new std::string;
  const auto found = texts_.find(id);
  return found == texts_.end() ? none : found->second;
}

std::vector<ActivityGap> ActivityStream::Gaps(uint64_t end) const {
  std::vector<ActivityGap> gaps;
  if (version_ == 0) return gaps;
  bool on = false, stopped = false;
  uint64_t since = trace_.clock().start_ticks();
  std::string why = "CUPTI was not at work yet";
  if (trace_.counter(schema::COUNTER_BASE_GENERATION) != 0) {
    gaps.push_back({since, first_tie_, "records of then have made room for later ones (VRAMTRACK_MAX_BYTES)"});
    on = true;
    since = first_tie_;
  }
  for (const DecodedSpan& span : spans_) {
    if (span.begins == on) continue;
    if (span.begins && span.ticks > since) gaps.push_back({since, span.ticks, why, stopped});
    stopped = on;
    on = span.begins;
    since = span.ticks;
    why = span.why;
  }
  // A tracer that was killed has delivered what CUPTI had given it.
  if (on && !trace_.finished()) {
    since = last_tie_;
    why = "the process ended before CUPTI had delivered its last records";
  }
  if ((!on || !trace_.finished()) && end > since && !why.empty()) gaps.push_back({since, end, why, !on && stopped});
  return gaps;
}

void ActivityClock::Add(uint64_t cupti_ns, uint64_t ticks) {
  if (cupti_ns != 0) ties_.emplace_back(cupti_ns, ticks);
}

void ActivityClock::Freeze(double ticks_per_second) {
  ticks_per_ns_ = ticks_per_second / 1e9;
  std::sort(ties_.begin(), ties_.end());
  // Two clocks do not run backwards against each other: a tie that says so is damage.
  std::vector<std::pair<uint64_t, uint64_t>> kept;
  for (const auto& tie : ties_) {
    if (kept.empty() || (tie.first > kept.back().first && tie.second > kept.back().second)) kept.push_back(tie);
  }
  ties_ = std::move(kept);
  if (ties_.size() < 2) return;
  // Better than what a tracer that was killed estimated when it began.
  ticks_per_ns_ = static_cast<double>(ties_.back().second - ties_.front().second) /
                  static_cast<double>(ties_.back().first - ties_.front().first);
}

uint64_t ActivityClock::Ticks(uint64_t cupti_ns) const {
  if (ties_.empty()) return 0;
  auto after = std::upper_bound(ties_.begin(), ties_.end(), std::make_pair(cupti_ns, UINT64_MAX));
  const auto& tie = after == ties_.begin() ? *after : *std::prev(after);
  double slope = ticks_per_ns_;
  if (after != ties_.begin() && after != ties_.end()) {
    slope = static_cast<double>(after->second - tie.second) / static_cast<double>(after->first - tie.first);
  }
  const bool before = cupti_ns < tie.first;
  const double distance = static_cast<double>(before ? tie.first - cupti_ns : cupti_ns - tie.first) * slope;
  const auto ticks = static_cast<uint64_t>(std::min(distance, 9e18));
  return before ? tie.second - std::min(ticks, tie.second) : tie.second + ticks;
}

}  // namespace vramtrack
