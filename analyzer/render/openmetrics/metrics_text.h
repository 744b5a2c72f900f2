// SPDX-License-Identifier: Apache-2.0
//
// The text format of OpenMetrics 1.0 (https://prometheus.io/docs/specs/om/open_metrics_spec/).
#ifndef ANALYZER_RENDER_OPENMETRICS_METRICS_TEXT_H_
#define ANALYZER_RENDER_OPENMETRICS_METRICS_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramtrack {

constexpr char kOpenMetricsType[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

struct Metric {
  const char* name;  // without the suffix _total of counters
  const char* type;  // "gauge" or "counter": the only ones that parsers of Prometheus' older format know, too
  const char* unit;  // the name must end with it; empty: none
  const char* help;
};

// Collects samples and writes them by metric. Thread-compatible.
class MetricsText {
 public:
  // `metrics` must outlive it.
  template <size_t kCount>
  explicit MetricsText(const Metric (&metrics)[kCount]) : metrics_(metrics), samples_(kCount) {}

  // Returns `name="value"`, with the value escaped. Labels are joined by commas.
  static std::string Label(std::string_view name, std::string_view value);

  // Adds a sample of the metric with this index; `labels` may be empty.
  void Sample(size_t metric, std::string_view labels, uint64_t value);
  void Sample(size_t metric, std::string_view labels, double value);  // to the byte, as far as a double goes

  // Returns the text, without metrics that have no samples.
  std::string Finish() const;

 private:
  void Add(size_t metric, std::string_view labels, const std::string& value);

  const Metric* const metrics_;
  std::vector<std::string> samples_;  // by metric
};

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_OPENMETRICS_METRICS_TEXT_H_
