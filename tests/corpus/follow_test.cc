// SPDX-License-Identifier: Apache-2.0
//
// A job that is followed while it runs gets the answers that a report on the same events gives: every emulated case,
// cut at several places.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/findings/find_in_process.h"
#include "analyzer/findings/followed_process.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/render/json/json.h"
#include "proto/frame.h"
#include "tests/corpus/suites.h"

namespace vramtrack::corpus {
namespace {

// What a look has, as JSON; a whole report without what needs another replay.
std::string VerdictsOf(ProcessFindings findings) {
  for (ReportSite& site : findings.sites) {
    site.peak_without_site = 0;
    if (site.group) site.group->peak_without = 0;
  }
  std::vector<ProcessFindings> processes;
  processes.push_back(std::move(findings));
  Report whole = JoinFindings(std::move(processes));
  Report report;
  report.steps = std::move(whole.steps);
  report.sites = std::move(whole.sites);
  report.ranking = std::move(whole.ranking);
  report.verdict_counts = std::move(whole.verdict_counts);
  report.reasons = std::move(whole.reasons);
  report.pinned_growth = std::move(whole.pinned_growth);
  report.handle_growth = std::move(whole.handle_growth);
  for (ReportDevice& of : whole.devices) {
    ReportDevice device;
    device.index = of.index;
    device.total_bytes = of.total_bytes;
    device.peak = of.peak;
    device.end = of.end;
    device.last_step = of.last_step;
    device.growth = of.growth;
    device.unattributed_bytes = of.unattributed_bytes;
    report.devices.push_back(std::move(device));
  }
  return RenderJson(report);
}

// The first line of one that the other has otherwise, both ways; empty if there is none.
std::string FirstDifference(const std::string& a, const std::string& b) {
  std::istringstream left(a), right(b);
  std::string in_a, in_b;
  for (;;) {
    const bool more_a = static_cast<bool>(std::getline(left, in_a)),
               more_b = static_cast<bool>(std::getline(right, in_b));
    if (!more_a && !more_b) return "";
    if (more_a != more_b || in_a != in_b) return in_a + " | " + in_b;
  }
}

struct Outcome {
  std::string id;
  size_t looks = 0, went_on = 0;
  std::vector<std::string> differences;
};

constexpr size_t kCuts = 4;

// Looks at a reading, and compares with a report on another one that is the same.
void LookAndCompare(std::unique_ptr<Trace> reading, const Trace& same, const std::string& cut,
                    FollowedProcess* followed, Outcome* outcome) {
  AnalyzeOptions options;
  options.threads = 1;
  const std::string look = VerdictsOf(followed->LookAt(std::move(reading), options));
  ++outcome->looks;
  outcome->went_on += followed->went_on();
  const std::string difference = FirstDifference(look, VerdictsOf(FindInProcess(same, options)));
  if (!difference.empty()) outcome->differences.push_back(cut + ": " + difference);
}

// The file grows: of several threads, some are further than others.
void FollowBytes(const std::string& bytes, Outcome* outcome) {
  FollowedProcess followed("job.vtrace");
  std::vector<std::string> files(kCuts);
  for (size_t cut = 1; cut < kCuts; ++cut) {
    // As long as its reading.
    files[cut] = bytes.substr(0, kHeaderBytes + (bytes.size() - kHeaderBytes) * cut / kCuts);
    absl::StatusOr<std::unique_ptr<Trace>> reading = Trace::Read(files[cut], "job.vtrace");
    const absl::StatusOr<std::unique_ptr<Trace>> same = Trace::Read(files[cut], "job.vtrace");
    ASSERT_TRUE(reading.ok() && same.ok()) << reading.status();
    LookAndCompare(*std::move(reading), **same, "byte cut " + std::to_string(cut), &followed, outcome);
  }
}

// All threads are known up to the same moment.
void FollowTime(const std::string& bytes, Outcome* outcome) {
  FollowedProcess followed("job.vtrace");
  const std::string unfinished = bytes.substr(0, bytes.size() - 1);
  for (size_t cut = 2; cut <= kCuts; ++cut) {
    absl::StatusOr<std::unique_ptr<Trace>> reading = Trace::Read(unfinished, "job.vtrace");
    const absl::StatusOr<std::unique_ptr<Trace>> same = Trace::Read(unfinished, "job.vtrace");
    ASSERT_TRUE(reading.ok() && same.ok()) << reading.status();
    uint64_t first = UINT64_MAX;
    for (const ThreadBlocks& thread : (*same)->threads()) first = std::min(first, thread.blocks[0].first_time);
    const uint64_t until = first + ((*same)->NewestTicks() - first) * cut / kCuts;
    (*reading)->LeaveOutAfter(until);
    (*same)->LeaveOutAfter(until);
    LookAndCompare(*std::move(reading), **same, "time cut " + std::to_string(cut), &followed, outcome);
  }
}

Outcome Follow(const RunSpec& spec) {
  const Emulation run = Emulate(spec.shape, spec.flows, spec.options);
  Outcome outcome;
  outcome.id = spec.id;
  FollowBytes(run.trace, &outcome);
  FollowTime(run.trace, &outcome);
  return outcome;
}

TEST(Follow, LooksAtCutTracesGiveWhatReportsGive) {
  Selection selection;
  selection.steps = {60};
  selection.seeds = 1;
  std::vector<RunSpec> runs;
  const std::vector<RunSpec> cases = CaseRuns(selection);
  for (size_t i = 0; i < cases.size(); i += 2) runs.push_back(cases[i]);
  std::vector<Outcome> outcomes(runs.size());
  ForEach(runs.size(), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())),
          [&](size_t i) { outcomes[i] = Follow(runs[i]); });
  size_t looks = 0, went_on = 0;
  for (const Outcome& outcome : outcomes) {
    looks += outcome.looks;
    went_on += outcome.went_on;
    for (const std::string& difference : outcome.differences) ADD_FAILURE() << outcome.id << ": " << difference;
  }
  EXPECT_GE(looks, 200u);
  RecordProperty("looks", static_cast<int>(looks));
  RecordProperty("went_on", static_cast<int>(went_on));
  // The first look begins; of the others those go on at which no thread lags behind and steps are not windows.
  EXPECT_GE(3 * went_on, looks);
}

}  // namespace
}  // namespace vramtrack::corpus
