// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/diff_score.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/diff/compared_process.h"
#include "analyzer/diff/process_diff.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/profile/make_step_profile.h"
#include "tests/corpus/site_finder.h"
#include "tests/corpus/suites.h"

namespace vramtrack::corpus {
namespace {

// The sites of the flows, which come before those of the job.
constexpr uint32_t kGrown = 0, kGone = 1, kNew = 2;

std::vector<Flow> FlowsOf(const DiffSpec& spec, bool next) {
  if (!spec.changes) return {};
  const Flow flow = Flow::Blocks().Lives(Life::kStep);
  // What is new must not look like what is gone under another name.
  const Flow added = flow.In(Look::kBackward).On(1).At(Place::kBackward).Count(3, 3);
  return {flow.Bytes(next ? 12 * kMiB : 8 * kMiB), flow.Bytes(8 * kMiB).Until(next ? 0 : 1),
          added.Bytes(5 * kMiB).Until(next ? 1 : 0)};
}

// Ids depend on the sites that are listed.
AnalyzeOptions ListingAll() {
  AnalyzeOptions options;
  options.top = 1000;
  return options;
}

Report ReportOf(const Trace& trace) {
  const AnalyzeOptions options = ListingAll();
  std::vector<ProcessFindings> processes;
  processes.push_back(FindInProcess(trace, options));
  return JoinFindings(std::move(processes));
}

DiffReport DiffSummaries(const Trace& base, const Trace& next, const DiffOptions& options) {
  ProcessAnalysis of_base(base, options.analyze), of_next(next, options.analyze);
  ComparedProcess old(FactsOfTrace(of_base), MakeStepProfile(&of_base));
  ComparedProcess now(FactsOfTrace(of_next), MakeStepProfile(&of_next));
  return Named(CompareProcesses(&old, &now, options));
}

}  // namespace

DiffScore ScoreDiff(const DiffSpec& spec) {
  RunOptions options;
  options.steps = spec.steps;
  options.seed = spec.seed;
  const Emulation base = Emulate(spec.shape, FlowsOf(spec, false), options);
  options.naming = spec.naming;
  options.chance = spec.chance;
  const Emulation next = Emulate(spec.shape, FlowsOf(spec, true), options);

  DiffScore score;
  score.sites = static_cast<int>(next.sites.size());
  const auto base_trace = Trace::Read(base.trace, "base"), next_trace = Trace::Read(next.trace, "new");
  if (!base_trace.ok() || !next_trace.ok()) {
    score.comparable = false;
    return score;
  }
  DiffOptions of_diff;
  of_diff.analyze = ListingAll();
  const DiffReport diff = spec.summaries ? DiffSummaries(**base_trace, **next_trace, of_diff)
                                         : Named(CompareProcesses(**base_trace, **next_trace, of_diff));
  score.comparable = diff.comparable;
  score.identical = diff.identical;

  const SiteFinder in_base(base.sites), in_next(next.sites);
  std::map<std::string, uint32_t> base_ids;
  for (const ReportSite& site : ReportOf(**base_trace).sites) {
    const std::optional<uint32_t> index = in_base.Find(site);
    if (index) base_ids[site.id] = *index;
  }
  const auto is_block = [](const DiffFinding& finding) { return finding.kind == "framework_block"; };
  const auto edits = [&](uint32_t site) {
    return next.sites[site].kind == schema::FRAMEWORK_BLOCK && spec.naming.Edits(site) && site > kNew;
  };
  for (uint32_t site = 0; site < next.sites.size(); ++site) {
    score.edited += edits(site) && next.sites[site].allocations > 0;
  }

  std::set<uint32_t> found;
  const auto look = [&](const std::vector<DiffFinding>& findings, const SiteFinder& finder, const char* section,
                        std::optional<uint32_t> right) {
    for (const DiffFinding& finding : findings) {
      const std::optional<uint32_t> site = finder.Find(finding.kind, finding.frames);
      if (spec.changes && site && right && *site == *right) {
        found.insert(*site);
        continue;
      }
      // What is reserved follows what was changed.
      if (spec.changes && !is_block(finding)) continue;
      ++score.false_findings;
      score.said.push_back(std::string(section) + ": " + finding.kind + ": " + finding.explanation);
      const bool lost = section == std::string("new") || section == std::string("gone");
      score.unmatched += lost && site && edits(*site);
    }
  };
  look(diff.added, in_next, "new", kNew);
  look(diff.gone, in_base, "gone", kGone);
  look(diff.grown, in_next, "grown", kGrown);
  look(diff.shrunk, in_next, "shrunk", std::nullopt);
  if (spec.changes) score.changes = 3;
  score.found = static_cast<int>(found.size());

  for (const DiffFinding& finding : diff.moved) {
    if (!is_block(finding) || !finding.base_site) continue;
    const std::optional<uint32_t> site = in_next.Find(finding.kind, finding.frames);
    const auto before = base_ids.find(*finding.base_site);
    if (!site || before == base_ids.end()) continue;
    ++score.moved;
    score.moved_right += before->second == *site;
  }
  return score;
}

std::vector<DiffSpec> DiffRuns(int seeds, bool summaries) {
  std::vector<DiffSpec> kinds;
  const auto add = [&](const char* id) -> DiffSpec& {
    DiffSpec spec;
    spec.id = id;
    kinds.push_back(spec);
    return kinds.back();
  };
  add("the same trace");
  DiffSpec& service = add("the same trace, native");
  service.shape.training = false;
  add("another day").chance = 99;
  add("lines inserted").naming.line_shift = 40;
  DiffSpec& another = add("lines inserted, another day");
  another.naming.line_shift = 40;
  another.chance = 99;
  add("functions renamed, 1 in 5").naming.rename_every = 5;
  add("functions moved to a file, 1 in 5").naming.move_every = 5;
  add("functions split, 1 in 5").naming.wrap_every = 5;
  DiffSpec& all = add("all of it, 1 in 7, 11, 13");
  all.naming = {0, 40, 7, 11, 13};
  add("a site new, gone, grown").changes = true;
  DiffSpec& changed = add("the same, all of it edited");
  changed.naming = {0, 40, 7, 11, 13};
  changed.changes = true;
  std::vector<DiffSpec> specs;
  for (const DiffSpec& kind : kinds) {
    for (int seed = 0; seed < seeds; ++seed) {
      specs.push_back(kind);
      specs.back().seed = static_cast<uint64_t>(900 + seed);
      specs.back().summaries = summaries;
      if (summaries) specs.back().steps = 300;
    }
  }
  return specs;
}

}  // namespace vramtrack::corpus
