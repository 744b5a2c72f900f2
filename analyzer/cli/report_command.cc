// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/commands.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "analyzer/cli/option_values.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/model/answer.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/html/html.h"
#include "analyzer/render/html/source_lines.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/text.h"

namespace vramtrack {
namespace {

absl::StatusOr<Report> AnalyzeTrace(const ReportOptions& options, const TraceChoice& choice) {
  absl::StatusOr<CategoryRules> categories = ReadCategories(options.categories);
  if (!categories.ok()) return categories.status();
  AnalyzeOptions analyze;
  analyze.categories = *std::move(categories);
  // A page has room for all sites that anybody would look for.
  analyze.top = std::max(options.format == "html" ? kMaxPageSites : analyze.top, options.top);
  analyze.step_marks = options.step_marks;
  analyze.horizon_steps = options.horizon_steps;
  analyze.threads = options.threads;
  if (options.raw_stacks) analyze.stacks = StackDetail::kRaw;
  analyze.symbols.search.search_paths = options.search_paths;
  AnalysisProgress far;
  analyze.progress = &far;
  PassLog passes;
  if (options.explain_passes) analyze.passes = &passes;
  absl::StatusOr<Report> report = [&] {
    Progress progress("analyzing " + options.traces[0], &far);
    return Analyze(choice.paths, analyze);
  }();
  const std::string made = passes.Text();
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, made.data(), made.size());
  if (report.ok() && !choice.left_out.empty()) {
    report->left_out = choice.left_out;
    report->warnings.insert(report->warnings.begin(), choice.left_out);
  }
  return report;
}

std::string Html(const Report& report, const TraceChoice& choice, const ReportOptions& options) {
  if (!options.source) return RenderHtml(report);
  return RenderHtml(report, ReadSource(report, choice.paths));
}

// Where the page of a trace goes by default: next to it, "run.html" for run.vtrace and for the folder run.
std::string PageBeside(const std::string& trace) {
  std::filesystem::path path = std::filesystem::absolute(trace).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const bool is_file = path.extension() == ".vtrace" || path.extension() == ".vts";
  const std::string name = (is_file ? path.stem() : path.filename()).string() + ".html";
  const std::filesystem::path given = std::filesystem::path(trace).lexically_normal();
  // A folder that is named by where it is, as "." or "..", has its page inside.
  if (given == "." || given == "./" || given.filename() == "..") return (given / name).lexically_normal().string();
  return ((given.has_filename() ? given : given.parent_path()).parent_path() / name).string();
}

int ExitCodeOf(Answer answer) {
  switch (answer) {
    case Answer::kLeak:
      return kExitFinding;
    case Answer::kNotEnough:
      return kExitNotEnoughEvidence;
    case Answer::kNoLeak:
      break;
  }
  return kExitFine;
}

}  // namespace

int RunReport(const ReportOptions& options) {
  // A page is of no use on a terminal.
  const bool names_itself = options.format == "html" && options.output.empty() && isatty(STDOUT_FILENO) != 0;
  const std::string output = names_itself ? PageBeside(options.traces[0]) : options.output;
  std::vector<std::string> inputs = options.traces;
  inputs.push_back(options.categories);
  if (absl::Status usable = CheckOutput(output, inputs); !usable.ok()) {
    return BadInput(std::string(usable.message()));
  }
  const absl::StatusOr<TraceChoice> choice = ChooseAndSay(options.traces, options.all_runs);
  if (!choice.ok()) return BadInput(std::string(choice.status().message()));
  absl::StatusOr<Report> report = AnalyzeTrace(options, *choice);
  if (!report.ok()) return BadInput(std::string(report.status().message()));

  std::string text = options.format == "json" ? RenderJson(*report)
                     : options.format == "html"
                         ? Html(*report, *choice, options)
                         : RenderText(*report, DetectStyle(IsFile(output) ? -1 : STDOUT_FILENO, options.color),
                                      options.top, options.raw_stacks);
  if (const int code = WriteOutput(output, text); code != kExitFine) return code;
  if (names_itself) Say("wrote " + output);
  return options.exit_code ? ExitCodeOf(AnswerOf(*report)) : kExitFine;
}

}  // namespace vramtrack
