// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_OPENMETRICS_JOB_METRICS_H_
#define ANALYZER_RENDER_OPENMETRICS_JOB_METRICS_H_

#include <cstdint>
#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

constexpr char kOpenMetricsType[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

// How a job that is watched is looked at.
struct WatchState {
  uint64_t looks = 0, failed_looks = 0;
  double look_time_s = 0;      // when the last successful look began, since 1970
  double look_duration_s = 0;  // how long it took
  size_t recording = 0;        // how many of the job's processes run on this machine and write their traces
};

// Renders what is known of a job that is watched as OpenMetrics 1.0
// (https://prometheus.io/docs/specs/om/open_metrics_spec/): docs/watch.md lists the metrics. Null: there is no report
// yet. The number of samples does not depend on how many sites or processes there are; names of the job's code are not
// in it.
std::string RenderJobMetrics(const WatchState& state, const Report* report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_OPENMETRICS_JOB_METRICS_H_
