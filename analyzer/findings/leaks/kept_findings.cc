// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/kept_findings.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "analyzer/leaks/survivors.h"
#include "analyzer/model/whole_leak.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxKeptPoints = 500;  // of a curve

bool IsFinding(const ReportSite& site) {
  return site.part_of.is_none() && site.verdict != Verdict::kSteady && site.verdict != Verdict::kOneTime;
}

// The sums up to the end of each bin of steps, in the job's numbers.
void AddCurve(const SurvivorSeries& survivors, const RunShape& run, ReportKept* kept) {
  const Step width = (run.steps + kMaxKeptPoints - 1) / kMaxKeptPoints;
  uint64_t bytes = 0, objects = 0;
  auto next = survivors.begin();
  for (Step begin = 0; begin < run.steps; begin += width) {
    const Step end = std::min(begin + width, run.steps);
    for (; next != survivors.end() && next->step < end; ++next) {
      bytes += next->bytes;
      objects += next->objects;
    }
    kept->step.push_back(static_cast<int64_t>(run.NumberOf(end - 1)));
    kept->bytes.push_back(bytes);
    kept->objects.push_back(objects);
  }
}

// The straight line of the rate through the span that it was estimated from. `from`: what was kept before the span;
// `added`: the steps' worth that the first step of the span has added to it.
void AddFit(const RunShape& run, StepSpan span, double from, double added, const ReportSite& site, ReportKept* kept) {
  if (span.size() == 0) return;
  const ReportLeak whole = WholeOf(site);
  for (const Step step : {span.begin, span.end - 1}) {
    const double steps = step - span.begin + added;
    kept->fit.push_back({static_cast<int64_t>(run.NumberOf(step)), from + whole.rate_bytes_per_step * steps,
                         from + whole.rate_ci_low * steps, from + whole.rate_ci_high * steps});
  }
}

void AddTested(const RunShape& run, StepSpan tested, ReportKept* kept) {
  kept->tested_steps = tested.size();
  if (tested.size() == 0) return;
  kept->first_tested_step = static_cast<int64_t>(run.NumberOf(tested.begin));
  kept->last_tested_step = static_cast<int64_t>(run.NumberOf(tested.end - 1));
}

// Of a buffer that grows: what it never fell below again, at the end of each bin.
void AddFloor(const ProcessAnalysis& analysis, SiteIndex site, ReportKept* kept) {
  std::vector<HeldLevel> floor = analysis.growth().LevelsOf(site);
  if (floor.empty()) return;
  for (size_t i = floor.size(); i-- > 1;) {
    if (floor[i].bytes < floor[i - 1].bytes) floor[i - 1] = floor[i];
  }
  const bool first = kept->step.empty();
  const std::vector<Step> steps = analysis.growth().LevelsOf(analysis.growth().BookOf(site)).steps;
  for (size_t i = 0; i < floor.size(); ++i) {
    if (first) {
      kept->step.push_back(static_cast<int64_t>(analysis.run().NumberOf(steps[i])));
      kept->bytes.push_back(0);
      kept->objects.push_back(0);
    }
    kept->bytes[i] += floor[i].bytes;
    kept->objects[i] += floor[i].objects;
  }
}

ReportKept KeptByBuffer(const ProcessAnalysis& analysis, const std::vector<SiteIndex>& members,
                        const ReportSite& site) {
  const RunShape& run = analysis.run();
  ReportKept kept;
  for (const SiteIndex member : members) {
    const SiteVerdict& verdict = analysis.verdicts()[member];
    if (!IsLeak(verdict.verdict)) continue;
    AddFloor(analysis, member, &kept);
    kept.max_lifetime_steps = std::max<uint64_t>(kept.max_lifetime_steps, verdict.longest_life);
  }
  const StepSpan span = analysis.verdicts()[members[0]].leaking;
  double from = 0;
  for (size_t i = 0; i < kept.step.size() && kept.step[i] <= static_cast<int64_t>(run.NumberOf(span.begin)); ++i) {
    from = static_cast<double>(kept.bytes[i]);
  }
  AddFit(run, span, from, /*added=*/0, site, &kept);
  AddTested(run, span, &kept);
  return kept;
}

}  // namespace

void DescribeKept(const ProcessAnalysis& analysis, std::vector<ReportSite>* sites) {
  const RunShape& run = analysis.run();
  if (run.steps == 0) return;
  std::vector<std::vector<SiteIndex>> members;
  for (const SiteGroup& group : analysis.groups()) members.push_back(group.sites);
  for (const auto& [leader, groups] : LeakMembers(*sites)) {
    members[leader].clear();
    for (const size_t group : groups) {
      const std::vector<SiteIndex>& of = analysis.groups()[group].sites;
      members[leader].insert(members[leader].end(), of.begin(), of.end());
    }
  }
  for (size_t i = 0; i < sites->size(); ++i) {
    ReportSite& site = (*sites)[i];
    if (!IsFinding(site)) continue;
    const SiteVerdict& leading = analysis.verdicts()[analysis.groups()[i].sites[0]];
    if (IsLeak(leading.verdict) && leading.replaced) {
      site.kept = KeptByBuffer(analysis, members[i], site);
      continue;
    }
    SurvivorSeries survivors;
    ReportKept kept;
    for (const SiteIndex member : members[i]) {
      survivors = SumOf(survivors, SurvivorsIn(analysis.histories().history(member), {0, run.steps}));
      kept.max_lifetime_steps = std::max<uint64_t>(kept.max_lifetime_steps, analysis.verdicts()[member].longest_life);
    }
    if (survivors.empty()) continue;
    AddCurve(survivors, run, &kept);
    const SurvivorTotal before = TotalOf(Within(survivors, {0, leading.leaking.begin}));
    AddFit(run, leading.leaking, static_cast<double>(before.bytes), /*added=*/1, site, &kept);
    AddTested(run, leading.tested, &kept);
    const SurvivorTotal total = TotalOf(Within(survivors, leading.tested));
    kept.steps_with_survivors = total.steps;
    kept.survivor_objects = total.objects;
    kept.survivor_bytes = total.bytes;
    site.kept = std::move(kept);
  }
}

}  // namespace vramtrack
