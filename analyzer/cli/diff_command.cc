// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "analyzer/base/input_file.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/diff/diff.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/ingest/trace_choice.h"
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

std::pair<std::string, std::string> ReadRename(const std::string& text, const std::string& where) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw CommandFailure{absl::StrCat(where, ": invalid renaming '", text.substr(0, kMostShownBytes),
                                      text.size() > kMostShownBytes ? "..." : "", "' (expected OLD=NEW)")};
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

constexpr uint64_t kMostRenameBytes = 16 << 20;

// The file has one OLD=NEW a line; blank lines and what begins with "#" is left out.
Renames ReadRenames(const std::vector<std::string>& given, const std::string& path) {
  Renames renames;
  for (const std::string& rename : given) renames.push_back(ReadRename(rename, "--rename"));
  int number = 0;
  for (const absl::string_view piece :
       absl::StrSplit(path.empty() ? "" : OrFail(ReadInputFile(path, kMostRenameBytes)), '\n')) {
    std::string line(piece);
    ++number;
    while (!line.empty() && std::strchr(" \t\r", line.back()) != nullptr) line.pop_back();
    if (line.empty() || line[0] == '#') continue;
    renames.push_back(ReadRename(line, absl::StrCat(path, ": line ", number)));
  }
  return renames;
}

std::vector<std::string> FailOnNames() {
  std::vector<std::string> names;
  for (const FailOn& one : kFailOn) names.emplace_back(one.name);
  return names;
}

}  // namespace

int DiffCommand(const Arguments& arguments) {
  std::string base_path, next_path, format = "text", output, rename_file;
  size_t top = 10;
  std::vector<std::string> renames, fail_on;
  ColorMode color = ColorMode::kAuto;
  AnalysisOptions options;
  CommandParser parser(
      "diff [OPTION...] BASE NEW",
      "Show what changed between two runs: leaks, the peak, growth, fragmentation, and allocation sites "
      "that are new, gone, larger or smaller. Moved lines and renamed functions are not changes. BASE "
      "and NEW are traces, or folders of them.");
  parser.Positional("BASE", &base_path);
  parser.Positional("NEW", &next_path);
  AddFormat(&parser, &format, {"text", "json", "markdown", "html"});
  AddOutput(&parser, &output);
  AddTop(&parser, &top, "the most rows of a table in text and Markdown (default: 10)");
  AddExplainPasses(&parser, &options, "each");
  parser.List("--rename", "OLD=NEW", &renames,
              "a function, class, namespace or file that has another name in NEW; may be repeated");
  parser.Option("--rename-file", "FILE", &rename_file, "a file with one OLD=NEW per line");
  parser
      .List("--fail-on", "WHAT", &fail_on,
            absl::StrCat("exit with 1 for any of these, separated by commas: ", absl::StrJoin(FailOnNames(), ", "),
                         ". change: any change at all; divergence: other allocations, or in another order"))
      ->delimiter(',')
      ->check(OneOf("change", FailOnNames()));
  AddStepMarksAndCategories(&parser, &options);
  AddThreads(&parser, &options);
  AddInput(&parser, &options);
  AddColor(&parser, &color);
  parser.Ending(
      "Exit code: 0 success, 1 what --fail-on names, 2 bad input or usage, 3 not enough evidence: too few steps to "
      "tell a change from chance, or runs that cannot be compared.");
  if (const auto code = parser.Parse(arguments)) return *code;

  const bool html = format == "html";
  if (html && output.empty() && isatty(STDOUT_FILENO) != 0) {
    return BadInput("refusing to write HTML to a terminal (use -o FILE)");
  }
  CheckOutput(output, {base_path, next_path, rename_file, options.categories});
  DiffOptions diff;
  diff.renames = ReadRenames(renames, rename_file);
  const TraceChoice base = ChooseAndSay({base_path}, options.all_runs);
  const TraceChoice next = ChooseAndSay({next_path}, options.all_runs);
  options.ReadCategories();
  // A page also shows what was found in each run.
  std::vector<std::string> both = base.paths;
  both.insert(both.end(), next.paths.begin(), next.paths.end());
  KnownFindings known(both);
  if (html) options.analyze.known = &known;
  DiffReport report = OrFail([&] {
    const ShownAnalysis shown("comparing " + next_path, &options);
    diff.analyze = options.analyze;
    return Diff(base.paths, next.paths, diff);
  }());
  for (const TraceChoice* choice : {&base, &next}) {
    if (!choice->left_out.empty()) report.warnings.push_back(choice->left_out);
  }
  std::string text;
  if (html) {
    options.explain_passes = false;  // they have been printed
    const ShownAnalysis shown("drawing the timelines", &options);
    DiffRuns runs;
    runs.base = OrFail(Analyze(base.paths, options.analyze));
    runs.next = OrFail(Analyze(next.paths, options.analyze));
    text = RenderDiffHtml(report, std::move(runs));
  } else {
    text = format == "json" ? RenderDiffJson(report)
           : format == "markdown"
               ? RenderDiffMarkdown(report, top)
               : RenderDiffText(report, DetectStyle(IsFile(output) ? -1 : STDOUT_FILENO, color), top);
  }
  if (const int code = WriteOutput(output, text); code != kExitFine) return code;
  if (!report.comparable) return kExitNotEnoughEvidence;
  for (const FailOn& one : kFailOn) {
    const bool wanted = std::find(fail_on.begin(), fail_on.end(), one.name) != fail_on.end();
    if (wanted && one.applies(report)) return kExitFinding;
  }
  const bool complete = report.base.incomplete.empty() && report.next.incomplete.empty();
  return complete && (report.identical || report.tested) ? kExitFine : kExitNotEnoughEvidence;
}

}  // namespace vramtrack
