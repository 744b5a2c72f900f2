// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/score.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/model/process_findings.h"
#include "tests/corpus/rivals.h"
#include "tests/corpus/site_finder.h"
#include "tests/corpus/step_accuracy.h"

namespace vramtrack::corpus {
namespace {

// Sites that are no leaks are wanted as well, for the classes of lookalikes.
constexpr size_t kAllSites = 1000;

// An interval of width zero covers a rate that differs from it by rounding.
constexpr double kRounding = 1e-6;

constexpr double kGiB = 1u << 30;

Detection DetectionOf(const Rival& rival, const Emulation& run, const std::set<uint32_t>& leaking) {
  Detection detection;
  std::vector<std::pair<double, uint32_t>> flagged;
  for (uint32_t i = 0; i < run.sites.size(); ++i) {
    const std::optional<double> badness = rival.judge(run.sites[i], static_cast<int>(run.step_ends.size()));
    if (badness) flagged.emplace_back(-*badness, i);
  }
  std::sort(flagged.begin(), flagged.end());
  for (size_t i = 0; i < flagged.size(); ++i) {
    const bool is_true = leaking.count(flagged[i].second) != 0;
    detection.false_sites += !is_true;
    if (!is_true || detection.found) continue;
    detection.found = true;
    detection.rank = static_cast<int>(i + 1);
  }
  return detection;
}

const char* Or(const std::string& text, const char* otherwise) { return text.empty() ? otherwise : text.c_str(); }

void ScoreRate(const Report& report, const SiteFinder& finder, const Emulation& run, const std::set<uint32_t>& leaking,
               int micro, RunScore* score) {
  // Where no steps were found, rates are per GiB allocated: as many as a true step allocates.
  const double units = report.steps.unit == StepUnit::kWindow
                           ? static_cast<double>(report.steps.window_bytes) * static_cast<double>(report.steps.count) /
                                 (kGiB * static_cast<double>(run.step_ends.size()))
                           : micro;
  double rate = 0, low = 0, high = 0;
  double onset = -1;
  bool first = true;
  for (const ReportSite& site : report.sites) {
    const std::optional<uint32_t> index = finder.Find(site);
    if (!index || leaking.count(*index) == 0 || !IsLeak(site)) continue;
    rate += site.rate_bytes_per_step * units;
    low += site.rate_ci_low * units;
    high += site.rate_ci_high * units;
    if (first && site.onset_step) {
      onset = static_cast<double>(*site.onset_step) * static_cast<double>(run.step_ends.size()) /
              static_cast<double>(report.steps.unit == StepUnit::kWindow ? report.steps.count
                                                                         : run.step_ends.size() * micro);
    }
    first = false;
  }
  const double truth = run.truth.bytes_per_step();
  // Windows of equal bytes do not end where steps do: what is in one varies.
  score->exact_rate =
      report.steps.unit == StepUnit::kStep &&
      std::all_of(run.truth.leaks.begin(), run.truth.leaks.end(), [](const TrueLeak& leak) { return leak.exact; });
  if (truth > 0) {
    score->rate_error = std::abs(rate - truth) / truth;
    score->covered = low <= truth * (1 + kRounding) && truth * (1 - kRounding) <= high;
  }
  // An onset within warm-up cannot be told from a leak of all the run, and is not reported.
  const int warmup = std::max(5, static_cast<int>(run.step_ends.size()) / 10);
  if (onset >= 0) {
    score->onset_error = std::abs(onset - run.truth.onset);
  } else {
    score->onset_error = run.truth.onset <= warmup ? 0 : run.truth.onset;
  }
}

void ScoreClasses(const RunSpec& spec, const Report& report, const SiteFinder& finder, const Emulation& run,
                  RunScore* score) {
  std::map<uint32_t, std::string> verdicts;
  for (const ReportSite& site : report.sites) {
    const std::optional<uint32_t> index = finder.Find(site);
    if (index) verdicts[*index] = NameOf(site.verdict);
  }
  for (const uint32_t watched : run.truth.watched) {
    if (spec.right.empty() || run.sites[watched].allocations == 0) continue;
    const std::string said = Or(verdicts[watched], "not reported");
    const bool right = std::find(spec.right.begin(), spec.right.end(), said) != spec.right.end();
    score->class_right &= right;
    score->classes.emplace_back(spec.right[0], right ? spec.right[0] : said);
  }
}

}  // namespace

Detection DetectionOf(const Report& report, const Emulation& run) {
  const SiteFinder finder(run.sites);
  std::set<uint32_t> leaking;
  for (const TrueLeak& leak : run.truth.leaks) leaking.insert(leak.site);
  const auto is_true = [&](const ReportSite& site) {
    const std::optional<uint32_t> index = finder.Find(site);
    return index && leaking.count(*index) != 0;
  };
  Detection detection;
  int position = 0;
  for (const ReportSiteIndex leak : report.ranking) {
    ++position;
    if (!is_true(report.sites.at(leak.value()))) continue;
    ++detection.true_findings;
    if (!detection.found) detection.rank = position;
    detection.found = true;
  }
  // Parts of a finding count as well.
  for (const ReportSite& site : report.sites) detection.false_sites += IsLeak(site) && !is_true(site);
  return detection;
}

RunScore Score(const RunSpec& spec, AnalyzeOptions options) {
  const Emulation run = Emulate(spec.shape, spec.flows, spec.options);
  RunScore score;
  const auto trace = Trace::Read(run.trace, spec.id);
  if (!trace.ok()) {
    score.said.emplace_back(trace.status().message());
    score.class_right = false;
    return score;
  }
  options.top = kAllSites;
  std::vector<ProcessFindings> processes;
  processes.push_back(FindInProcess(**trace, options));
  const Report report = JoinFindings(std::move(processes));

  const SiteFinder finder(run.sites);
  std::set<uint32_t> leaking;
  for (const TrueLeak& leak : run.truth.leaks) leaking.insert(leak.site);
  score.ours = DetectionOf(report, run);
  for (const Rival& rival : Rivals()) score.rivals.push_back(DetectionOf(rival, run, leaking));
  score.sites = static_cast<int>(run.sites.size());
  score.step_source = NameOf(report.steps.source);
  const StepAccuracy steps = MeasureSteps(**trace, run.step_ends, run.micro_steps);
  score.step_f1 = steps.f1;
  if (score.ours.found) ScoreRate(report, finder, run, leaking, steps.unit, &score);
  ScoreClasses(spec, report, finder, run, &score);
  // It is told per step.
  const bool may_tell = report.steps.unit == StepUnit::kStep;
  for (const ReportDevice& device : report.devices) {
    const std::optional<ReportReserveGrowth>& growth = device.fragmentation.growth;
    if (!spec.reserve_grows || (*spec.reserve_grows && !may_tell)) continue;
    if (growth.has_value() == *spec.reserve_grows) continue;
    score.reserve_right = false;
    score.said.push_back(growth ? "false: " + growth->explanation : "missed: what is reserved grows");
  }
  for (const ReportSite& site : report.sites) {
    const std::optional<uint32_t> index = finder.Find(site);
    const bool is_true = index && leaking.count(*index) != 0;
    if (is_true != IsLeak(site)) {
      score.said.push_back(std::string(is_true ? "missed: " : "false: ") + NameOf(site.level) + " " + site.kind + ": " +
                           NameOf(site.verdict) + ": " + site.explanation);
    }
  }
  return score;
}

}  // namespace vramtrack::corpus
