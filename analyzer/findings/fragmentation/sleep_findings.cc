// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/sleep_findings.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/leaks/growth.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxLines = 100;
// Growth is a difference of cycles from here on. The first cycle also has what a job allocates once.
constexpr size_t kFewestCycles = 3;

// What one line held, by cycle.
struct Line {
  Level level = Level::kDriver;
  std::string owner;
  StackIndex stack = kEmptyStack;
  uint64_t largest = 0;  // the last bytes of `stack`
  std::vector<uint64_t> bytes;
};

// Growth from cycle to cycle: the slope with an interval from eleven cycles on, otherwise the mean.
std::optional<double> GrowthOf(const std::vector<uint64_t>& bytes, std::optional<FittedGrowth>* fitted) {
  if (bytes.size() < kFewestCycles) return std::nullopt;
  *fitted = FitGrowth(SeriesOf(bytes, bytes), 1);
  if (*fitted) return (*fitted)->bytes_per_step;
  const double last = static_cast<double>(bytes.back());
  return (last - static_cast<double>(bytes[1])) / static_cast<double>(bytes.size() - 2);
}

std::vector<uint64_t> EachCycle(const std::vector<std::pair<size_t, uint64_t>>& changes, size_t cycles) {
  std::vector<uint64_t> bytes(cycles, 0);
  for (size_t i = 0; i < changes.size(); ++i) {
    const size_t end = i + 1 < changes.size() ? changes[i + 1].first : cycles;
    for (size_t cycle = changes[i].first; cycle < end && cycle < cycles; ++cycle) bytes[cycle] = changes[i].second;
  }
  return bytes;
}

}  // namespace

bool SleepFindings::AreDue(const Ledger& ledger) {
  if (ledger.unknown_frees() > 0) return true;
  return std::any_of(ledger.sites().begin(), ledger.sites().end(),
                     [](const Site& site) { return site.key.kind == schema::MAPPING && site.frees > 0; });
}

void SleepFindings::Describe(const Replay& replay, ProcessFindings* findings) {
  for (const auto& [device, sleeps] : sleeps_.devices()) {
    findings->process.sleeps.push_back(DescribeSleeps(replay, device, sleeps));
  }
  for (const auto& [key, count] : repeated_.counts()) {
    findings->process.repeated_frees.push_back({KindName(key.kind), key.device.value(), count,
                                                analysis_.shown().Frames(key.stack),
                                                analysis_.shown().Frames(key.first_stack)});
  }
  std::stable_sort(findings->process.repeated_frees.begin(), findings->process.repeated_frees.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
}

ReportSleep SleepFindings::DescribeSleeps(const Replay& replay, DeviceIndex device, const DeviceSleeps& sleeps) {
  ReportSleep report;
  report.device = device.value();
  report.cycles = sleeps.count;
  report.asleep_at_end = sleeps.asleep;
  std::vector<uint64_t> held;
  for (const SleepCycle& cycle : sleeps.cycles) {
    report.times.push_back({analysis_.trace().clock().Seconds(cycle.ticks), cycle.released, cycle.held, cycle.cached});
    held.push_back(cycle.held);
  }
  std::optional<FittedGrowth> fitted;
  report.bytes_per_cycle = GrowthOf(held, &fitted);
  if (fitted)
    std::tie(report.has_interval, report.ci_low, report.ci_high) = std::tuple(true, fitted->ci_low, fitted->ci_high);

  // Stacks that a reader cannot tell apart are one line.
  std::map<std::tuple<Level, std::string, std::string, std::string, uint64_t>, Line> lines;
  const Sites& sites = replay.ledger->sites();
  for (const SiteIndex i : sites.indices()) {
    const auto found = sleeps.held.find(i);
    if (found == sleeps.held.end()) continue;
    const SiteKey& key = sites[i].key;
    const std::vector<uint64_t> bytes = EachCycle(found->second, sleeps.cycles.size());
    const std::vector<ReportFrame> frames = analysis_.shown().Frames(key.stack);
    const size_t named = NamingFrame(frames, 0);
    const ReportFrame place = named < frames.size() ? frames[named] : ReportFrame();
    const std::string owner = analysis_.symbolizer().Owner(key.stack);
    Line& line = lines[{LevelOf(key.kind), owner, place.file.empty() ? place.module : place.file, place.function,
                        place.line != 0 ? place.line : place.offset}];
    if (line.bytes.empty()) line.bytes.resize(bytes.size());
    if (line.stack == kEmptyStack || bytes.back() > line.largest) {
      line.stack = key.stack;
      line.largest = bytes.back();
    }
    line.level = LevelOf(key.kind);
    line.owner = owner;
    for (size_t cycle = 0; cycle < bytes.size(); ++cycle) line.bytes[cycle] += bytes[cycle];
  }
  for (const auto& [key, line] : lines) {
    if (line.bytes.front() == 0 && line.bytes.back() == 0) continue;
    ReportSleepLine shown;
    shown.level = line.level;
    shown.owner = line.owner;
    shown.stack = analysis_.shown().Frames(line.stack);
    shown.first_bytes = line.bytes.front();
    shown.last_bytes = line.bytes.back();
    std::optional<FittedGrowth> of_line;
    shown.bytes_per_cycle = GrowthOf(line.bytes, &of_line);
    report.lines.push_back(std::move(shown));
  }
  std::stable_sort(report.lines.begin(), report.lines.end(), [](const ReportSleepLine& a, const ReportSleepLine& b) {
    const double a_growth = std::max(0.0, a.bytes_per_cycle.value_or(0));
    const double b_growth = std::max(0.0, b.bytes_per_cycle.value_or(0));
    return std::tie(a_growth, a.last_bytes) > std::tie(b_growth, b.last_bytes);
  });
  if (report.lines.size() > kMaxLines) report.lines.resize(kMaxLines);
  return report;
}

}  // namespace vramtrack
