// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/commands.h"

#include <iterator>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/input_file.h"
#include "analyzer/check/judge.h"
#include "analyzer/check/limits.h"
#include "analyzer/check/source_paths.h"
#include "analyzer/cli/option_values.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/diff/diff.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/model/check_report.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/check/check_output.h"

namespace vramtrack {
namespace {

struct Format {
  const char* name;
  std::string (*render)(const CheckReport&);
};
constexpr Format kFormats[] = {{"text", RenderCheckText},     {"json", RenderCheckJson},
                               {"github", RenderCheckGithub}, {"gitlab", RenderCheckGitlab},
                               {"junit", RenderCheckJunit},   {"sarif", RenderCheckSarif}};

constexpr uint64_t kMostBudgetBytes = 1 << 20;

absl::StatusOr<Budgets> ReadBudgets(const std::string& path) {
  if (path.empty()) return Budgets{};
  const absl::StatusOr<std::string> text = ReadInputFile(path, kMostBudgetBytes);
  if (!text.ok()) return text.status();
  return ParseBudgets(*text, path);
}

absl::StatusOr<CheckOptions> ReadOptions(const CheckCommandOptions& given) {
  CheckOptions options;
  absl::StatusOr<Budgets> budgets = ReadBudgets(given.budget_file);
  if (!budgets.ok()) return budgets.status();
  options.budgets = *std::move(budgets);
  for (const LimitKind& kind : kLimitKinds) {
    const auto text = given.limits.find(kind.key);
    if (text == given.limits.end()) continue;
    absl::StatusOr<Limit> limit = ParseLimit(text->second, kind.unit);
    const std::string option = LimitOption(kind);
    if (!limit.ok())
      return absl::InvalidArgumentError(absl::StrCat(option, ": ", std::string(limit.status().message())));
    limit->place = option;
    // The command line overrides the file, for each device.
    options.budgets.job.*kind.limit = *limit;
    for (auto& [device, limits] : options.budgets.devices) limits.*kind.limit = std::nullopt;
  }
  for (const std::string& rule : given.fail_on) {
    if (FindRule(rule) == nullptr) {
      return absl::InvalidArgumentError("--fail-on: " + UnknownChoice("rule", rule, RuleNames()));
    }
    options.fail_on.insert(rule);
  }
  options.today = absl::ToCivilDay(absl::Now(), absl::UTCTimeZone());
  if (!given.today.empty()) {
    absl::StatusOr<absl::CivilDay> today = ParseDay(given.today);
    if (!today.ok())
      return absl::InvalidArgumentError(absl::StrCat("--today: ", std::string(today.status().message())));
    options.today = *today;
  }
  return options;
}

absl::StatusOr<CheckReport> CheckTrace(const CheckCommandOptions& given, const CheckOptions& options) {
  DiffOptions diff_options;
  AnalyzeOptions& analyze = diff_options.analyze;
  absl::StatusOr<CategoryRules> categories = ReadCategories(given.categories);
  if (!categories.ok()) return categories.status();
  analyze.categories = *std::move(categories);
  analyze.step_marks = given.step_marks;
  analyze.threads = given.threads;
  analyze.symbols.search.search_paths = given.search_paths;
  const absl::StatusOr<TraceChoice> traces = ChooseAndSay(given.traces, given.all_runs);
  if (!traces.ok()) return traces.status();
  absl::StatusOr<TraceChoice> base = TraceChoice{};
  if (!given.baseline.empty()) base = ChooseAndSay(given.baseline, given.all_runs);
  if (!base.ok()) return base.status();

  KnownFindings known(traces->paths);
  analyze.known = &known;
  Progress progress("analyzing " + given.traces[0]);
  std::optional<DiffReport> diff;
  if (!given.baseline.empty()) {
    absl::StatusOr<DiffReport> compared = Diff(base->paths, traces->paths, diff_options);
    if (!compared.ok()) return compared.status();
    diff = *std::move(compared);
  }
  absl::StatusOr<Report> report = Analyze(traces->paths, analyze);
  if (!report.ok()) return report.status();
  if (!traces->left_out.empty()) report->warnings.insert(report->warnings.begin(), traces->left_out);
  CheckReport checked = Check(*report, diff ? &*diff : nullptr, options);
  checked.trace = absl::StrJoin(given.traces, " ");
  checked.baseline = given.baseline;
  SourcePaths sources(given.source_root);
  for (CheckFinding& finding : checked.findings) {
    if (!finding.file.empty()) finding.file = sources.FromRoot(finding.file);
    for (ReportFrame& frame : finding.frames) {
      if (!frame.file.empty()) frame.file = sources.FromRoot(frame.file);
    }
  }
  return checked;
}

}  // namespace

std::vector<std::string> CheckFormats() {
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  return names;
}

std::string LimitOption(const LimitKind& kind) {
  std::string option = absl::StrCat(IsLeast(kind.unit) ? "--min-" : "--max-", kind.key);
  for (char& c : option) c = c == '_' ? '-' : c;
  return option;
}

int RunCheck(const CheckCommandOptions& options) {
  const Format* format = nullptr;
  for (const Format& one : kFormats) {
    if (options.format == one.name) format = &one;
  }
  if (format == nullptr) return BadInput("--format: " + UnknownChoice("format", options.format, CheckFormats()));
  std::vector<std::string> inputs = options.traces;
  inputs.insert(inputs.end(), {options.baseline, options.budget_file, options.categories});
  const absl::Status output = CheckOutput(options.output, inputs);
  if (!output.ok()) return BadInput(std::string(output.message()));
  absl::StatusOr<CheckOptions> how = ReadOptions(options);
  if (!how.ok()) return BadInput(std::string(how.status().message()));
  absl::StatusOr<CheckReport> checked = CheckTrace(options, *how);
  if (!checked.ok()) return BadInput(std::string(checked.status().message()));

  const int code = WriteOutput(options.output, format->render(*checked));
  return code == kExitFine ? ExitCodeOf(*checked) : code;
}

}  // namespace vramtrack
