// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analyzer/base/input_file.h"
#include "analyzer/cli/option_values.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/diff/diff.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/html/html.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/diff_text.h"

namespace vramtrack {
namespace {

using Renames = std::vector<std::pair<std::string, std::string>>;

bool AnyLeak(const std::vector<DiffFinding>& findings, bool base_leaks) {
  return std::any_of(findings.begin(), findings.end(), [&](const DiffFinding& finding) {
    return IsRate(finding) && finding.leak && finding.base_leak == base_leaks;
  });
}

template <typename Member>
bool AnyGrowth(const DiffReport& report, Member member) {
  return std::any_of(report.devices.begin(), report.devices.end(), [&](const DiffDevice& device) {
    return (device.*member).significant && (device.*member).delta() > 0;
  });
}

struct FailOn {
  const char* name;
  bool (*applies)(const DiffReport&);
};

constexpr FailOn kFailOn[] = {
    {"new-leak", [](const DiffReport& report) { return AnyLeak(report.added, false) || AnyLeak(report.grown, false); }},
    {"leak-growth", [](const DiffReport& report) { return AnyLeak(report.grown, true); }},
    {"peak", [](const DiffReport& report) { return AnyGrowth(report, &DiffDevice::peak); }},
    {"growth", [](const DiffReport& report) { return AnyGrowth(report, &DiffDevice::growth); }},
    {"fragmentation", [](const DiffReport& report) { return AnyGrowth(report, &DiffDevice::fragmentation); }},
    {"new", [](const DiffReport& report) { return !report.added.empty(); }},
    {"grown", [](const DiffReport& report) { return !report.grown.empty(); }},
    {"change",
     [](const DiffReport& report) {
       return !report.added.empty() || !report.gone.empty() || !report.grown.empty() || !report.shrunk.empty() ||
              std::any_of(report.devices.begin(), report.devices.end(), [](const DiffDevice& device) {
                return device.peak.significant || device.growth.significant || device.fragmentation.significant;
              });
     }},
    {"divergence", [](const DiffReport& report) { return !report.identical; }},
};

constexpr size_t kMostShownBytes = 100;

absl::Status AddRename(const std::string& text, const std::string& where, Renames* renames) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": invalid renaming '", text.substr(0, kMostShownBytes),
                                                   text.size() > kMostShownBytes ? "..." : "", "' (expected OLD=NEW)"));
  }
  renames->push_back({text.substr(0, equals), text.substr(equals + 1)});
  return absl::OkStatus();
}

constexpr uint64_t kMostRenameBytes = 16 << 20;

// One OLD=NEW a line; blank lines and what begins with "#" is left out.
absl::Status ReadRenames(const std::string& path, Renames* renames) {
  const absl::StatusOr<std::string> text = ReadInputFile(path, kMostRenameBytes);
  if (!text.ok()) return text.status();
  int number = 0;
  for (const absl::string_view piece : absl::StrSplit(*text, '\n')) {
    std::string line(piece);
    ++number;
    while (!line.empty() && std::strchr(" \t\r", line.back()) != nullptr) line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    absl::Status added = AddRename(line, absl::StrCat(path, ": line ", number), renames);
    if (!added.ok()) return added;
  }
  return absl::OkStatus();
}

// Fills in which traces are compared, and for a page what was found in each.
absl::StatusOr<DiffReport> CompareTraces(const DiffCommandOptions& options, TraceChoice* base, TraceChoice* next,
                                         std::unique_ptr<KnownFindings>* known) {
  DiffOptions diff;
  for (const std::string& rename : options.renames) {
    if (absl::Status added = AddRename(rename, "--rename", &diff.renames); !added.ok()) return added;
  }
  if (!options.rename_file.empty()) {
    if (absl::Status read = ReadRenames(options.rename_file, &diff.renames); !read.ok()) return read;
  }
  for (const auto& [path, choice] : {std::make_pair(options.base, base), std::make_pair(options.next, next)}) {
    absl::StatusOr<TraceChoice> chosen = ChooseAndSay(path, options.all_runs);
    if (!chosen.ok()) return chosen.status();
    *choice = *std::move(chosen);
  }
  absl::StatusOr<CategoryRules> categories = ReadCategories(options.categories);
  if (!categories.ok()) return categories.status();
  diff.analyze.categories = *std::move(categories);
  diff.analyze.step_marks = options.step_marks;
  diff.analyze.symbols.search.search_paths = options.search_paths;
  diff.analyze.threads = options.threads;
  if (options.format == "html") {
    std::vector<std::string> both = base->paths;
    both.insert(both.end(), next->paths.begin(), next->paths.end());
    *known = std::make_unique<KnownFindings>(both);
    diff.analyze.known = known->get();
  }
  AnalysisProgress far;
  diff.analyze.progress = &far;
  Progress progress("comparing " + options.next, &far);
  PassLog passes;
  if (options.explain_passes) diff.analyze.passes = &passes;
  absl::StatusOr<DiffReport> report = Diff(base->paths, next->paths, diff);
  const std::string made = passes.Text();
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, made.data(), made.size());
  if (!report.ok()) return report;
  for (const TraceChoice* choice : {base, next}) {
    if (!choice->left_out.empty()) report->warnings.push_back(choice->left_out);
  }
  return report;
}

// With the report on each run.
absl::StatusOr<std::string> Html(const DiffReport& report, const TraceChoice& base, const TraceChoice& next,
                                 const DiffCommandOptions& options, KnownFindings* known) {
  DiffRuns runs;
  AnalyzeOptions analyze;
  absl::StatusOr<CategoryRules> categories = ReadCategories(options.categories);
  if (!categories.ok()) return categories.status();
  analyze.categories = *std::move(categories);
  analyze.known = known;
  analyze.step_marks = options.step_marks;
  analyze.symbols.search.search_paths = options.search_paths;
  analyze.threads = options.threads;
  AnalysisProgress far;
  analyze.progress = &far;
  Progress progress("drawing the timelines", &far);
  for (const auto& [choice, run] : {std::make_pair(&base, &runs.base), std::make_pair(&next, &runs.next)}) {
    absl::StatusOr<Report> analyzed = Analyze(choice->paths, analyze);
    if (!analyzed.ok()) return analyzed.status();
    *run = *std::move(analyzed);
  }
  return RenderDiffHtml(report, &runs);
}

}  // namespace

const std::vector<std::string>& FailOnNames() {
  static const auto* const names = [] {
    auto* all = new std::vector<std::string>;
    for (const FailOn& one : kFailOn) all->push_back(one.name);
    return all;
  }();
  return *names;
}

int RunDiff(const DiffCommandOptions& options) {
  if (options.format == "html" && options.output.empty() && isatty(STDOUT_FILENO) != 0) {
    return BadInput("refusing to write HTML to a terminal (use -o FILE)");
  }
  const absl::Status output =
      CheckOutput(options.output, {options.base, options.next, options.rename_file, options.categories});
  if (!output.ok()) return BadInput(std::string(output.message()));
  TraceChoice base, next;
  std::unique_ptr<KnownFindings> known;
  const absl::StatusOr<DiffReport> report = CompareTraces(options, &base, &next, &known);
  if (!report.ok()) return BadInput(std::string(report.status().message()));
  const absl::StatusOr<std::string> text =
      options.format == "json"   ? RenderDiffJson(*report)
      : options.format == "html" ? Html(*report, base, next, options, known.get())
      : options.format == "markdown"
          ? RenderDiffMarkdown(*report, options.top)
          : RenderDiffText(*report, DetectStyle(IsFile(options.output) ? -1 : STDOUT_FILENO, options.color),
                           options.top);
  if (!text.ok()) return BadInput(std::string(text.status().message()));
  if (const int code = WriteOutput(options.output, *text); code != kExitFine) return code;
  if (!report->comparable) return kExitNotEnoughEvidence;
  for (const FailOn& one : kFailOn) {
    const bool wanted = std::find(options.fail_on.begin(), options.fail_on.end(), one.name) != options.fail_on.end();
    if (wanted && one.applies(*report)) return kExitFinding;
  }
  const bool complete = report->base.incomplete.empty() && report->next.incomplete.empty();
  return complete && (report->identical || report->tested) ? kExitFine : kExitNotEnoughEvidence;
}

}  // namespace vramtrack
