// SPDX-License-Identifier: Apache-2.0

#include "analyzer/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

constexpr int kMostThreads = 1024;

using Arguments = std::vector<std::string>;

int Print(const std::string& text) {
  StandardOutput out;
  out.Write(text);
  return out.Finish();
}

int PrintVersion() { return Print(std::string("vramtrack ") + kToolVersion + "\n"); }

// A parser for the command `name` ("vramtrack report").
std::unique_ptr<CLI::App> Parser(const std::string& name) {
  auto app = std::make_unique<CLI::App>("", name);
  app->set_help_flag("-h,--help");
  app->set_version_flag("--version", kToolVersion);
  return app;
}

// Fills what `app` is bound to. True: go on; false: `code` is the exit code.
bool Parse(CLI::App* app, const char* help, Arguments arguments, int* code) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app->parse(std::move(arguments));
    return true;
  } catch (const CLI::CallForHelp&) {
    *code = Print(help);
  } catch (const CLI::CallForVersion&) {
    *code = PrintVersion();
  } catch (const CLI::ParseError& error) {
    *code = BadInput(std::string(error.what()) + "; see " + app->get_name() + " --help");
  }
  return false;
}

// What every command that reads a trace takes.
void AddTrace(CLI::App* app, std::string* trace, std::vector<std::string>* search_paths, bool* all_runs) {
  app->add_option("TRACE", *trace)->required();
  app->add_option("--search-path", *search_paths)->allow_extra_args(false);
  app->add_flag("--all-runs", *all_runs);
}

// Empty if `source` says where steps end.
std::string CheckStepMarks(const std::string& source) {
  for (const char* one : {"marks", "nvtx", "optimizer", "periodicity", "none"}) {
    if (source == one) return "";
  }
  for (const std::string prefix : {"nvtx:", "record_function:"}) {
    if (source.rfind(prefix, 0) == 0 && source.size() > prefix.size()) return "";
  }
  return source + " is not marks, nvtx, nvtx:NAME, record_function:NAME, optimizer, periodicity or none";
}

int Report(const Arguments& arguments) {
  ReportOptions options;
  std::string color = "auto";
  std::unique_ptr<CLI::App> app = Parser("vramtrack report");
  AddTrace(app.get(), &options.trace, &options.search_paths, &options.all_runs);
  app->add_option("--format", options.format);
  app->add_option("-o,--output", options.output);
  app->add_flag("--raw-stacks", options.raw_stacks);
  app->add_flag_callback("--no-source", [&options] { options.source = false; });
  app->add_option("--top", options.top)->check(CLI::Range(1, 1000000));
  app->add_option("--horizon", options.horizon_steps)->check(CLI::Range(uint64_t{1}, uint64_t{1} << 48));
  app->add_option("--step-marks", options.step_marks)->check(CheckStepMarks);
  app->add_option("--threads", options.threads)->check(CLI::Range(1, kMostThreads));
  app->add_flag("--explain-passes", options.explain_passes);
  app->add_flag("--exit-code", options.exit_code);
  app->add_option("--color", color)->check(CLI::IsMember({"auto", "always", "never"}));
  int code;
  if (!Parse(app.get(), kReportHelp, arguments, &code)) return code;
  if (options.format != "text" && options.format != "json" && options.format != "html") {
    return BadInput("--format " + options.format + ": there is text, json and html; see vramtrack report --help");
  }
  options.color = color == "always" ? ColorMode::kAlways : color == "never" ? ColorMode::kNever : ColorMode::kAuto;
  return RunReport(options);
}

int Diff(const Arguments& arguments) {
  DiffCommandOptions options;
  std::string color = "auto";
  std::unique_ptr<CLI::App> app = Parser("vramtrack diff");
  app->add_option("BASE", options.base)->required();
  app->add_option("NEW", options.next)->required();
  app->add_flag("--all-runs", options.all_runs);
  app->add_option("--search-path", options.search_paths)->allow_extra_args(false);
  app->add_option("--format", options.format);
  app->add_option("-o,--output", options.output);
  app->add_option("--top", options.top)->check(CLI::Range(1, 1000000));
  app->add_option("--rename", options.renames)->allow_extra_args(false);
  app->add_option("--rename-file", options.rename_file);
  app->add_option("--fail-on", options.fail_on)
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(CLI::IsMember(FailOnNames()));
  app->add_option("--step-marks", options.step_marks)->check(CheckStepMarks);
  app->add_option("--threads", options.threads)->check(CLI::Range(1, kMostThreads));
  app->add_flag("--explain-passes", options.explain_passes);
  app->add_option("--color", color)->check(CLI::IsMember({"auto", "always", "never"}));
  int code;
  if (!Parse(app.get(), kDiffHelp, arguments, &code)) return code;
  if (options.format != "text" && options.format != "json" && options.format != "markdown" &&
      options.format != "html") {
    return BadInput("--format " + options.format +
                    ": there is text, json, markdown and html; see vramtrack diff --help");
  }
  options.color = color == "always" ? ColorMode::kAlways : color == "never" ? ColorMode::kNever : ColorMode::kAuto;
  return RunDiff(options);
}

int Check(const Arguments& arguments) {
  CheckCommandOptions options;
  std::unique_ptr<CLI::App> app = Parser("vramtrack check");
  AddTrace(app.get(), &options.trace, &options.search_paths, &options.all_runs);
  app->add_option("--baseline", options.baseline);
  app->add_option("--budget", options.budget_file);
  for (const LimitKind& kind : kLimitKinds) {
    app->add_option_function<std::string>(
        LimitOption(kind), [&options, key = kind.key](const std::string& text) { options.limits[key] = text; });
  }
  app->add_option("--fail-on", options.fail_on)->allow_extra_args(false)->delimiter(',');
  app->add_option("--today", options.today);
  app->add_option("--format", options.format);
  app->add_option("-o,--output", options.output);
  app->add_option("--source-root", options.source_root);
  app->add_option("--step-marks", options.step_marks)->check(CheckStepMarks);
  app->add_option("--threads", options.threads)->check(CLI::Range(1, kMostThreads));
  int code;
  return Parse(app.get(), kCheckHelp, arguments, &code) ? RunCheck(options) : code;
}

int Export(const Arguments& arguments) {
  ExportCommandOptions options;
  std::unique_ptr<CLI::App> app = Parser("vramtrack export");
  AddTrace(app.get(), &options.trace, &options.search_paths, &options.all_runs);
  app->add_option("--to", options.format)->required();
  app->add_option("--table", options.tables)->allow_extra_args(false)->delimiter(',');
  app->add_option("-o,--output", options.output);
  app->add_option("--at", options.at);
  app->add_option("--steps", options.steps);
  app->add_option("--level", options.level)->check(CLI::IsMember({"all", "driver", "framework"}));
  app->add_option("--value", options.value)
      ->check(CLI::IsMember({"inuse_space", "inuse_objects", "alloc_space", "alloc_objects"}));
  app->add_option("--max-events", options.max_events)->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  app->add_flag("--raw-stacks", options.raw_stacks);
  app->add_option("--step-marks", options.step_marks)->check(CheckStepMarks);
  app->add_option("--threads", options.threads)->check(CLI::Range(1, kMostThreads));
  int code;
  return Parse(app.get(), kExportHelp, arguments, &code) ? RunExport(options) : code;
}

int Summarize(const Arguments& arguments) {
  SummarizeOptions options;
  std::unique_ptr<CLI::App> app = Parser("vramtrack summarize");
  AddTrace(app.get(), &options.trace, &options.search_paths, &options.all_runs);
  app->add_option("-o,--output", options.output)->required();
  app->add_option("--detail", options.detail)->check(CLI::IsMember({"full", "job", "fleet"}));
  app->add_option("--top", options.top)->check(CLI::Range(1, 1000000));
  app->add_option("--horizon", options.horizon_steps)->check(CLI::Range(uint64_t{1}, uint64_t{1} << 48));
  app->add_option("--step-marks", options.step_marks)->check(CheckStepMarks);
  app->add_option("--threads", options.threads)->check(CLI::Range(1, kMostThreads));
  int code;
  return Parse(app.get(), kSummarizeHelp, arguments, &code) ? RunSummarize(options) : code;
}

int Merge(const Arguments& arguments) {
  MergeOptions options;
  std::unique_ptr<CLI::App> app = Parser("vramtrack merge");
  app->add_option("SUMMARY", options.summaries)->required();
  app->add_option("-o,--output", options.output)->required();
  app->add_option("--detail", options.detail)->check(CLI::IsMember({"full", "job", "fleet"}));
  app->add_flag("--keep-going", options.keep_going);
  int code;
  return Parse(app.get(), kMergeHelp, arguments, &code) ? RunMerge(options) : code;
}

int Info(const Arguments& arguments) {
  InfoOptions options;
  std::unique_ptr<CLI::App> app = Parser("vramtrack info");
  AddTrace(app.get(), &options.trace, &options.search_paths, &options.all_runs);
  app->add_flag("--paths", options.paths);
  int code;
  return Parse(app.get(), kInfoHelp, arguments, &code) ? RunInfo(options) : code;
}

int Dump(const Arguments& arguments) {
  DumpOptions options;
  std::unique_ptr<CLI::App> app = Parser("vramtrack dump");
  AddTrace(app.get(), &options.trace, &options.search_paths, &options.all_runs);
  app->add_flag("--stacks", options.stacks);
  app->add_flag("--raw-stacks", options.raw_stacks);
  int code;
  if (!Parse(app.get(), kDumpHelp, arguments, &code)) return code;
  options.stacks |= options.raw_stacks;
  return RunDump(options);
}

// Empty if `stacks` is a value for VRAMTRACK_STACKS.
std::string CheckStacks(const std::string& stacks) {
  if (stacks == "none" || stacks == "native" || stacks == "python" || stacks == "native,python" ||
      stacks == "python,native") {
    return "";
  }
  return stacks + " is not native, python, native,python or none";
}

// Empty if `size` is a value for VRAMTRACK_MAX_BYTES.
std::string CheckSize(const std::string& size) {
  size_t digits = size.find_first_not_of("0123456789");
  bool plain = digits == std::string::npos;
  bool with_unit = !plain && digits + 1 == size.size() && std::string("KMGT").find(size[digits]) != std::string::npos;
  if (!size.empty() && digits != 0 && (plain || with_unit) && size.size() <= 18) return "";
  return size + " is not a size such as 500M or 2G";
}

int Run(const Arguments& arguments) {
  RunOptions options;
  std::unique_ptr<CLI::App> app = Parser("vramtrack run");
  app->add_option("-o,--output", options.output);
  app->add_option("--stacks", options.stacks)->check(CheckStacks);
  app->add_option("--max-frames", options.max_frames)->check(CLI::Range(1, 256));
  app->add_option("--max-bytes", options.max_bytes)->check(CheckSize);
  app->add_flag("--cupti", options.cupti);
  app->add_option("--cupti-records", options.cupti_records);
  app->add_flag("-q,--quiet", options.quiet);
  // Options end at the first word that is none, or at "--"; what follows is the command's.
  app->prefix_command();
  auto marker = std::find(arguments.begin(), arguments.end(), "--");
  int code;
  if (!Parse(app.get(), kRunHelp, Arguments(arguments.begin(), marker), &code)) return code;
  options.command = app->remaining();
  if (!options.command.empty() && options.command[0][0] == '-') {
    return BadInput("there is no option " + options.command[0] + "; see vramtrack run --help");
  }
  // Behind the command's name a "--" is the command's own.
  if (marker != arguments.end() && options.command.empty()) ++marker;
  options.command.insert(options.command.end(), marker, arguments.end());
  if (options.command.empty() || options.command[0].empty()) {
    return BadInput("a COMMAND to run is missing; see vramtrack run --help");
  }
  return RunRun(options);
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments) {
  const std::vector<std::pair<std::string, std::function<int(const Arguments&)>>> commands = {
      {"run", Run},     {"report", Report}, {"diff", Diff},
      {"check", Check}, {"export", Export}, {"summarize", Summarize},
      {"merge", Merge}, {"info", Info},     {"dump", Dump}};
  if (arguments.empty())
    return BadInput(
        "a command is missing: run, report, diff, check, export, summarize, merge, info or dump; see vramtrack --help");
  if (arguments[0] == "--help" || arguments[0] == "-h") return Print(kOverview);
  if (arguments[0] == "--version") return PrintVersion();
  for (const auto& [name, run] : commands) {
    if (name == arguments[0]) return run(Arguments(arguments.begin() + 1, arguments.end()));
  }
  const char* what = arguments[0][0] == '-' ? "option " : "command ";
  return BadInput(std::string("there is no ") + what + arguments[0] + "; see vramtrack --help");
}

}  // namespace vramtrack
