// SPDX-License-Identifier: Apache-2.0
//
// What a site's sentence says is what its fields say, on every emulated case: a reader of the text and a script that
// reads the JSON must not come to different ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/base/quantity.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/model/process_findings.h"
#include "tests/corpus/suites.h"

namespace vramtrack::corpus {
namespace {

constexpr double kGiB = 1u << 30;

class Sentence {
 public:
  Sentence(const Report& report, const ReportSite& site, uint64_t horizon)
      : report_(report), site_(site), horizon_(static_cast<double>(horizon)), text_(site.explanation) {}

  std::vector<std::string> Contradictions() {
    const bool minor = site_.verdict == Verdict::kMinorLeak, leak = IsLeak(site_);
    Expect(!text_.empty(), "there is none");
    Expect(Says("too little to matter") == minor, "minor or not");
    Expect(Says("the leak accelerates") == (site_.verdict == Verdict::kAcceleratingLeak), "accelerating or not");
    Expect(Says(std::string("since ") + NameOf(report_.steps.unit)) == site_.onset_step.has_value(),
           "an onset or none");
    Expect(Says("reserved memory grows as well") == (site_.grade == "framework+driver"), "grade");
    Expect(leak || !site_.onset_step, "an onset of no leak");
    Expect(leak == (site_.group || !site_.part_of.empty()), "a leak is one of its own or a part");
    Expect(Says(report_.steps.unit == StepUnit::kWindow ? "step" : "window") == false, "steps or windows");
    const bool says_why = Says("are needed") || Says("do not help") || Says("; but ");
    Expect((site_.verdict == Verdict::kInsufficientEvidence) == says_why, "evidence or none");
    Expect(site_.verdict != Verdict::kGrowingBuffer || Says("replaced by a larger one"), "what is replaced");
    if ((leak && !Says("replaced by a larger one")) || site_.verdict == Verdict::kFragmentationGrowth) {
      Expect(Says("left ") || Says("still live after the last"), "what was left behind");
    }
    if (site_.verdict == Verdict::kSteady || site_.verdict == Verdict::kOneTime)
      Expect(!Says("still live after the last"), "left behind");
    Rates();
    Materiality();
    Counts();
    return std::move(wrong_);
  }

 private:
  bool Says(const std::string& part) const { return text_.find(part) != std::string::npos; }
  void Expect(bool right, const std::string& what) {
    if (!right) wrong_.push_back(what);
  }
  bool Match(const char* pattern, std::smatch* match) const {
    return std::regex_search(text_, *match, std::regex(pattern));
  }

  // Per step or window, of what the sentence is about.
  double PerStep(double own, double whole) const {
    const double rate = site_.group ? whole : own;
    return report_.steps.unit == StepUnit::kWindow ? rate * static_cast<double>(report_.steps.window_bytes) / kGiB
                                                   : rate;
  }

  void Rates() {
    if (!IsLeak(site_)) return;
    const ReportLeak whole = site_.group.value_or(ReportLeak{});
    const double bytes = PerStep(site_.rate_bytes_per_step, whole.rate_bytes_per_step);
    const double objects = PerStep(site_.rate_objects_per_step, whole.rate_objects_per_step);
    Expect(bytes > 0 || objects > 0, "a leak of nothing");
    constexpr double kRounding = 1e-9;
    Expect(site_.rate_ci_low <= site_.rate_bytes_per_step * (1 + kRounding), "below its interval");
    Expect(site_.rate_ci_high >= site_.rate_bytes_per_step * (1 - kRounding), "above its interval");
    std::smatch match;
    if (Match("(?:each|every ([0-9]+)(?:st|nd|rd|th)) of the [0-9]+ \\w+ checked \\(-?[0-9]+ to -?[0-9]+\\) left "
              "([0-9.e+]+) objects?(?: \\(([0-9.]+ [KMGT]?i?B)\\))?",
              &match)) {
      const double period = match[1].matched ? std::stod(match[1]) : 1;
      if (period == 1 || std::stod(match[2]) >= 100) {
        Expect(std::abs(std::stod(match[2]) / (objects * period) - 1) < .06, "objects");
      } else {
        Expect(std::stod(match[2]) == std::round(objects * period), "objects of a period");
      }
      Expect(match[3] == (bytes > 0 ? FormatByteCount(bytes * period) : ""), "bytes");
    } else if (Match("([0-9.]+ [KMGT]?i?B) (?:a|per) \\w+ on average", &match)) {
      Expect(match[1] == FormatByteCount(bytes), "bytes on average");
    } else {
      Expect(bytes == 0 && Says("on average"), "what each step leaves");
    }
    if (Match("adds up to ([0-9.]+ [KMGT]?i?B) in", &match)) {
      Expect(match[1] == FormatByteCount(bytes * horizon_), "over the horizon");
    }
  }

  // Of a leak as a whole; a part may be minor by itself.
  void Materiality() {
    if (!site_.group || !site_.device || report_.steps.unit == StepUnit::kWindow) return;
    uint64_t total = 0;
    for (const ReportDevice& device : report_.devices)
      total = device.index == *site_.device ? device.total_bytes : total;
    const double least = std::max(1024. * 1024, 1e-4 * static_cast<double>(total));
    const double comes_to = site_.group->rate_bytes_per_step * horizon_;
    if (comes_to <= 0) return;
    Expect((site_.verdict == Verdict::kMinorLeak) == (comes_to < least), "it matters, or it does not");
  }

  void Counts() {
    std::smatch match;
    if (Match("([0-9]+) of ([0-9]+) (?:step|window)s? checked", &match)) {
      Expect(std::stoull(match[1]) <= std::stoull(match[2]), "more of them than there are");
    }
    if (Match("([0-9]+) (?:step|window)s? checked", &match)) {
      Expect(std::stoull(match[1]) <= report_.steps.count, "more than the job has");
    }
    if (Match("since \\w+ (-?[0-9]+)", &match)) {
      Expect(site_.onset_step && std::stoll(match[1]) == *site_.onset_step, "the onset");
    }
    if (Match("([0-9]+) more (?:step|window)s? are needed", &match)) {
      Expect(site_.further_steps_needed == std::stoull(match[1]) && std::stoull(match[1]) > 0, "further steps");
    } else {
      Expect(!site_.further_steps_needed, "further steps that it does not say");
    }
    if (Match("by these ([0-9]+) call stacks", &match)) {
      Expect(site_.group && std::stoull(match[1]) == site_.parts + 1, "how many sites");
    }
    Expect(site_.frees <= site_.allocations, "more frees than allocations");
  }

  const Report& report_;
  const ReportSite& site_;
  const double horizon_;
  const std::string& text_;
  std::vector<std::string> wrong_;
};

TEST(Sentences, SayWhatTheFieldsSay) {
  Selection selection;
  selection.steps = {100};
  std::vector<RunSpec> runs = CaseRuns(selection);
  const std::vector<RunSpec> pairs = PairRuns(selection);
  for (size_t i = 0; i < pairs.size(); i += 7) runs.push_back(pairs[i]);
  std::mutex mutex;
  size_t sites = 0, leaks = 0;
  std::vector<std::string> wrong;
  ForEach(runs.size(), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), [&](size_t i) {
    const Emulation run = Emulate(runs[i].shape, runs[i].flows, runs[i].options);
    const auto trace = Trace::Read(run.trace, runs[i].id);
    if (!trace.ok()) return;  // the emulation's own test
    AnalyzeOptions options;
    options.top = 200;
    std::vector<ProcessFindings> processes;
    processes.push_back(FindInProcess(**trace, options));
    const Report report = JoinFindings(std::move(processes));
    const std::lock_guard<std::mutex> lock(mutex);
    for (const ReportSite& site : report.sites) {
      ++sites;
      leaks += IsLeak(site);
      for (const std::string& what : Sentence(report, site, options.horizon_steps).Contradictions()) {
        wrong.push_back(runs[i].id + ", seed " + std::to_string(runs[i].options.seed % 100) + ": " + what + ": " +
                        NameOf(site.verdict) + ", " + std::to_string(site.rate_bytes_per_step) +
                        " B: " + site.explanation);
      }
    }
    for (const ReportPeakLines& peak : report.peak_lines) {
      uint64_t bytes = peak.other_bytes;
      for (const ReportPeakLine& line : peak.lines) bytes += line.bytes;
      if (bytes != peak.live) wrong.push_back(runs[i].id + ": the lines of the peak do not add up to it");
    }
  });
  std::sort(wrong.begin(), wrong.end());
  for (size_t i = 0; i < wrong.size() && i < 40; ++i) ADD_FAILURE() << wrong[i];
  EXPECT_EQ(wrong.size(), 0u);
  EXPECT_GT(sites, 10000u);
  EXPECT_GT(leaks, 200u);
}

}  // namespace
}  // namespace vramtrack::corpus
