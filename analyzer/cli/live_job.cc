// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/live_job.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/mapped_range.h"
#include "analyzer/cli/fatal_end.h"
#include "analyzer/cli/holder_request.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostSites = 200;
// A job's own work comes first.
constexpr double kShareOfProcessor = 0.1;

absl::Status Truncated(const std::string& path) { return absl::DataLossError(absl::StrCat(path, kTruncatedText)); }

LiveJob::Look EndLook(absl::StatusOr<Report> report, Clock::time_point began) {
  return {std::move(report), std::chrono::duration<double>(Clock::now() - began).count()};
}

}  // namespace

LiveJob::LiveJob(std::string target, AnalyzeOptions options)
    : target_(std::move(target)), analyze_(std::move(options)) {
  analyze_.top = kMostSites;
  analyze_.threads = 1;
  analyze_.symbols.modules = std::make_shared<ModuleStore>();
  GoOnAfterTruncations();
}

absl::Status LiveJob::Find() {
  if (IsProcessNumber(target_)) {
    absl::StatusOr<std::vector<std::string>> traces = TracesOfProcess(target_);
    if (!traces.ok()) return traces.status();
    paths_ = *std::move(traces);
    return absl::OkStatus();
  }
  if (run_id_) {
    const absl::StatusOr<std::vector<std::string>> listed = ListTraces(target_);
    if (!listed.ok()) return listed.status();
    for (TraceRun& run : SortIntoRuns(*listed).runs) {
      if (run.run_id == *run_id_) paths_ = std::move(run.paths);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<TraceChoice> choice = ChooseTraces(target_, /*all_runs=*/false);
  if (!choice.ok()) return choice.status();
  paths_ = std::move(choice->paths);
  return absl::OkStatus();
}

LiveJob::Look LiveJob::ReportOn(KnownFindings* known, Clock::time_point began) const {
  AnalyzeOptions analyze = analyze_;
  analyze.known = known;
  const uint64_t replaced_ends = ReplacedEnds();
  absl::StatusOr<Report> report = Analyze(paths_, analyze);
  if (ReplacedEnds() != replaced_ends) report = Truncated(target_);
  return EndLook(std::move(report), began);
}

LiveJob::Look LiveJob::Read() {
  const Clock::time_point began = Clock::now();
  KnownFindings known(paths_);
  for (const std::string& path : paths_) {
    if (!known.Wants(path) || IsSummaryFile(path)) continue;
    // The report says what is wrong with a trace that cannot be read.
    const uint64_t replaced_ends = ReplacedEnds();
    absl::StatusOr<ProcessFindings> findings = followed_.try_emplace(path, path).first->second.Look(analyze_);
    if (ReplacedEnds() != replaced_ends) {
      followed_.erase(path);
      return EndLook(Truncated(path), began);
    }
    if (findings.ok()) known.Add(path, *std::move(findings));
  }
  return ReportOn(&known, began);
}

LiveJob::Look LiveJob::ReadWhole() const { return ReportOn(nullptr, Clock::now()); }

std::chrono::duration<double> LiveJob::Pause(double seconds, double least_s) {
  return std::chrono::duration<double>(std::max(least_s, seconds / kShareOfProcessor));
}

int LiveJob::Follow(double least_s, bool whole, const std::function<std::optional<int>(Look*)>& on_look) {
  while (true) {
    Look look = whole ? ReadWhole() : Read();
    if (const std::optional<int> code = on_look(&look)) return *code;
    std::this_thread::sleep_for(Pause(look.seconds, least_s));
    Find().IgnoreError();
  }
}

}  // namespace vramtrack
