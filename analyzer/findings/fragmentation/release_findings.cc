// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/release_findings.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/findings/core/device_findings.h"
#include "analyzer/leaks/statistics.h"

namespace vramtrack {
namespace {

// Steps with a call, and steps to compare them with.
constexpr size_t kFewestCalls = 5, kFewestOthers = 10;
// A step that takes this many times the median is a machine that slept, or a clock that jumped.
constexpr double kOddDuration = 100;
// Neighbours are alike.
constexpr uint32_t kBlock = 5;

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of complete steps after warm-up, what each took; negative: it does not count.
std::vector<double> StepSeconds(const ProcessAnalysis& analysis) {
  const std::vector<uint64_t>& ends = analysis.ledger().step_ends();
  std::vector<double> seconds(ends.size(), -1), sorted;
  for (size_t i = std::max<size_t>(1, analysis.run().warmup_end); i < ends.size(); ++i) {
    if (ends[i] < ends[i - 1]) continue;
    seconds[i] = static_cast<double>(ends[i] - ends[i - 1]) / analysis.trace().clock().ticks_per_second();
    sorted.push_back(seconds[i]);
  }
  if (sorted.empty()) return seconds;
  std::sort(sorted.begin(), sorted.end());
  for (double& one : seconds) {
    if (one > kOddDuration * sorted[sorted.size() / 2]) one = -1;
  }
  return seconds;
}

// Steps in which any call gave something back, and those after them.
std::set<uint32_t> TouchedSteps(const ReleaseLog& log) {
  std::set<uint32_t> touched;
  for (const auto& [stack, releases] : log.by_stack()) {
    for (const Releases::Call& call : releases.times) touched.insert({call.step, call.step + 1});
  }
  return touched;
}

// What the steps of these calls took longer than others.
void DescribeExtra(const Releases& releases, const std::vector<double>& seconds, const std::set<uint32_t>& touched,
                   ReportRelease* release) {
  // Calls that are not listed would count as other steps.
  if (releases.calls > releases.times.size()) return;
  std::set<uint32_t> steps;
  for (const Releases::Call& call : releases.times) steps.insert(call.step);
  std::vector<double> with, others;
  for (size_t step = 0; step < seconds.size(); ++step) {
    if (seconds[step] < 0) continue;
    if (touched.count(static_cast<uint32_t>(step)) == 0) others.push_back(seconds[step]);
    if (steps.count(static_cast<uint32_t>(step)) == 0 || step + 1 >= seconds.size() || seconds[step + 1] < 0) continue;
    with.push_back(seconds[step] + seconds[step + 1]);
  }
  if (with.size() < kFewestCalls || others.size() < kFewestOthers) return;
  const Interval of_with = BootstrapMean(with, 1), of_others = BootstrapMean(others, kBlock);
  const double mean = Mean(with), other = Mean(others), extra = mean - 2 * other;
  release->extra_seconds = extra;
  release->extra_low = extra - std::hypot(mean - of_with.low, 2 * (of_others.high - other));
  release->extra_high = extra + std::hypot(of_with.high - mean, 2 * (other - of_others.low));
}

}  // namespace

void ReleaseFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  const bool in_steps = !analysis_.run().windows;
  const std::vector<double> seconds = in_steps ? StepSeconds(analysis_) : std::vector<double>();
  const std::set<uint32_t> touched = TouchedSteps(releases_);
  const double ticks_per_second = analysis_.trace().clock().ticks_per_second();
  for (const auto& [stack, releases] : releases_.by_stack()) {
    ReportRelease release{releases.calls, releases.segments, releases.bytes, releases.least, releases.most, {}, {}};
    for (const Releases::Call& call : releases.times) {
      release.times.push_back(
          {ReportedStep(analysis_.run(), call.step), analysis_.trace().clock().Seconds(call.ticks), call.bytes});
    }
    release.timed = releases.timed;
    release.seconds_at_least = static_cast<double>(releases.ticks_at_least) / ticks_per_second;
    release.seconds_at_most = static_cast<double>(releases.ticks_at_most) / ticks_per_second;
    DescribeExtra(releases, seconds, touched, &release);
    release.stack = analysis_.shown().Frames(stack);
    findings->releases.push_back(std::move(release));
  }
}

}  // namespace vramtrack
