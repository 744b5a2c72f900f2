// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/limits.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/input_file.h"
#include "analyzer/check/judge.h"
#include "analyzer/check/source_paths.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/diff/diff.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/model/check_report.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/check/check_output.h"

namespace vramtrack {
namespace {

struct CheckFormat {
  const char* name;
  std::string (*render)(const CheckReport&);
};
constexpr CheckFormat kCheckFormats[] = {{"text", RenderCheckText},     {"json", RenderCheckJson},
                                         {"github", RenderCheckGithub}, {"gitlab", RenderCheckGitlab},
                                         {"junit", RenderCheckJunit},   {"sarif", RenderCheckSarif}};

constexpr uint64_t kMostBudgetBytes = 1 << 20;

std::vector<std::string> CheckFormatNames() {
  std::vector<std::string> names;
  for (const CheckFormat& format : kCheckFormats) names.emplace_back(format.name);
  return names;
}

// The value of an option; the error names the option.
template <typename T>
T ValueOf(const std::string& option, absl::StatusOr<T> value) {
  if (!value.ok()) throw CommandFailure{absl::StrCat(option, ": ", std::string(value.status().message()))};
  return *std::move(value);
}

std::string LimitOption(const LimitKind& kind) {
  std::string option = absl::StrCat(IsLeast(kind.unit) ? "--min-" : "--max-", kind.key);
  for (char& c : option) c = c == '_' ? '-' : c;
  return option;
}

struct CheckArguments {
  std::vector<std::string> traces;
  std::string baseline, budget_file;
  std::map<std::string, std::string> limits;  // by key of kLimitKinds
  std::vector<std::string> fail_on;
  std::string today, format = "text", output, source_root;
  AnalysisOptions analysis;
};

CheckOptions ReadCheckOptions(const CheckArguments& given) {
  CheckOptions options;
  if (!given.budget_file.empty()) {
    const std::string text = OrFail(ReadInputFile(given.budget_file, kMostBudgetBytes));
    options.budgets = OrFail(ParseBudgets(text, given.budget_file));
  }
  for (const LimitKind& kind : kLimitKinds) {
    const auto text = given.limits.find(kind.key);
    if (text == given.limits.end()) continue;
    const std::string option = LimitOption(kind);
    Limit limit = ValueOf(option, ParseLimit(text->second, kind.unit));
    limit.place = option;
    // The command line overrides the file, for each device.
    options.budgets.job.*kind.limit = std::move(limit);
    for (auto& [device, limits] : options.budgets.devices) limits.*kind.limit = std::nullopt;
  }
  for (const std::string& rule : given.fail_on) {
    if (FindRule(rule) == nullptr) throw CommandFailure{"--fail-on: " + UnknownChoice("rule", rule, RuleNames())};
    options.fail_on.insert(rule);
  }
  options.today = given.today.empty() ? absl::ToCivilDay(absl::Now(), absl::UTCTimeZone())
                                      : ValueOf("--today", ParseDay(given.today));
  return options;
}

CheckReport CheckTraces(CheckArguments* given, const CheckOptions& options) {
  given->analysis.ReadCategories();
  const TraceChoice traces = ChooseAndSay(given->traces, given->analysis.all_runs);
  TraceChoice base;
  if (!given->baseline.empty()) base = ChooseAndSay({given->baseline}, given->analysis.all_runs);
  KnownFindings known(traces.paths);
  DiffOptions how{given->analysis.analyze, {}};
  how.analyze.known = &known;
  const Progress progress("analyzing " + given->traces[0]);
  std::optional<DiffReport> diff;
  if (!given->baseline.empty()) diff = OrFail(Diff(base.paths, traces.paths, how));
  Report report = OrFail(Analyze(traces.paths, how.analyze));
  if (!traces.left_out.empty()) report.warnings.insert(report.warnings.begin(), traces.left_out);
  CheckReport checked = Check(report, diff ? &*diff : nullptr, options);
  checked.trace = absl::StrJoin(given->traces, " ");
  checked.baseline = given->baseline;
  SourcePaths sources(given->source_root);
  for (CheckFinding& finding : checked.findings) {
    if (!finding.file.empty()) finding.file = sources.FromRoot(finding.file);
    for (ReportFrame& frame : finding.frames) {
      if (!frame.file.empty()) frame.file = sources.FromRoot(frame.file);
    }
  }
  return checked;
}

}  // namespace

int CheckCommand(const Arguments& arguments) {
  CheckArguments given;
  CommandParser parser(
      "check [OPTION...] TRACE...",
      "Fail if a run leaks, exceeds a limit or is worse than a baseline. Without options every leak that "
      "is not minor fails. With --baseline, only what the baseline does not have fails. Several traces are checked as "
      "one job.");
  parser.Positional("TRACE", &given.traces);
  parser.Option("--baseline", "BASE", &given.baseline, "an earlier run to compare with: a trace, or a folder");
  parser.Option("--budget", "FILE", &given.budget_file,
                "limits and exceptions (TOML, see docs/check.md); the options below override it");
  for (const LimitKind& kind : kLimitKinds) {
    parser.Call(
        LimitOption(kind), kind.value, [&given, key = kind.key](const std::string& text) { given.limits[key] = text; },
        kind.text);
  }
  parser
      .List("--fail-on", "RULE", &given.fail_on,
            "only these rules fail, the others warn; separated by commas (default: all)")
      ->delimiter(',');
  parser.Option("--today", "DATE", &given.today,
                "the date that decides which exceptions have expired, such as 2026-12-31 (default: today, UTC)");
  parser.Rare();
  AddFormat(&parser, &given.format, CheckFormatNames());
  AddOutput(&parser, &given.output);
  parser.Option("--source-root", "DIR", &given.source_root,
                "print paths relative to DIR (default: the git work tree, or the current folder)");
  AddStepMarksAndCategories(&parser, &given.analysis);
  AddThreads(&parser, &given.analysis);
  AddInput(&parser, &given.analysis);
  parser.Ending(
      "Exit code: 0 passed, 1 failed, 2 bad input or usage, 3 nothing failed but there is too little evidence.");
  if (const auto code = parser.Parse(arguments)) return *code;

  std::vector<std::string> inputs = given.traces;
  inputs.insert(inputs.end(), {given.baseline, given.budget_file, given.analysis.categories});
  CheckOutput(given.output, inputs);
  const CheckReport checked = CheckTraces(&given, ReadCheckOptions(given));
  std::string text;
  for (const CheckFormat& format : kCheckFormats) {
    if (given.format == format.name) text = format.render(checked);
  }
  const int code = WriteOutput(given.output, text);
  return code == kExitFine ? ExitCodeOf(checked) : code;
}

}  // namespace vramtrack
