// SPDX-License-Identifier: Apache-2.0

#include "analyzer/cli/command_line.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/display_text.h"
#include "analyzer/cli/command_parser.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/option_values.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/preload.h"
#include "analyzer/export/exporter.h"
#include "analyzer/export/tables.h"
#include "analyzer/findings/core/step_marks.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/serve/http_server.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMostThreads = 1024, kMostRows = 1000000, kMostSteps = uint64_t{1} << 48;
constexpr uint64_t kMostTimeoutSeconds = 1000000;
constexpr double kListenIntervalSeconds = 1;
constexpr uint64_t kMostPort = 65535;
constexpr int kMostFrames = 256;

constexpr char kTextOfOutput[] = "write to FILE, complete or not at all, instead of standard output";
constexpr char kTextOfRawStacks[] = "show every frame, also those of the interpreter and of PyTorch's dispatcher";

using Arguments = std::vector<std::string>;

// Empty if `source` is a value of --step-marks.
std::string CheckStepMarks(const std::string& source) {
  if (!source.empty() && ParseStepMarks(source)) return "";
  return absl::StrCat("unknown source of steps '", source,
                      "' (expected marks, nvtx, nvtx:NAME, record_function:NAME, optimizer, periodicity or none)");
}

void AddStepMarks(CommandParser* parser, std::string* step_marks) {
  parser
      ->Option("--step-marks", "KIND", step_marks,
               "where steps end: marks, nvtx, nvtx:NAME, record_function:NAME, optimizer, periodicity or none "
               "(default: the source that covers most of the run)")
      ->check(CheckStepMarks);
}

void AddCategories(CommandParser* parser, std::string* categories) {
  parser->Option("--categories", "FILE", categories, "rules that name what memory is for (TOML, see docs/ledger.md)");
}

void AddThreads(CommandParser* parser, size_t* threads) {
  parser->Option("--threads", "N", threads, "processors to use (default: all); the result does not depend on it")
      ->check(WholeNumber(1, kMostThreads));
}

void AddSearchPath(CommandParser* parser, std::vector<std::string>* search_paths) {
  parser->List("--search-path", "DIR", search_paths,
               "also look here for the traced program's binaries; may be repeated");
}

CLI::Option* AddInterval(CommandParser* parser, double* interval_s, const std::string& or_else = "") {
  return parser
      ->Option("--interval", "SECONDS", interval_s,
               absl::StrCat("the least time between two looks (default: ", *interval_s, or_else,
                            "). Longer traces are read less often, so that reading takes at most a tenth of one "
                            "processor"))
      ->check(CLI::Range(0.1, 3600.0));
}

void AddInput(CommandParser* parser, std::vector<std::string>* search_paths, bool* all_runs) {
  parser->Flag("--all-runs", all_runs, "read all runs in a folder that holds several (default: the newest)");
  AddSearchPath(parser, search_paths);
}

void AddFormat(CommandParser* parser, std::string* format, const std::vector<std::string>& formats) {
  parser->Option("--format", "FORMAT", format, absl::StrCat(JoinChoices(formats), " (default: text)"))
      ->check(OneOf("format", formats));
}

void AddColor(CommandParser* parser, ColorMode* color) {
  parser
      ->Call(
          "--color", "WHEN",
          [color](const std::string& when) {
            *color = when == "always" ? ColorMode::kAlways : when == "never" ? ColorMode::kNever : ColorMode::kAuto;
          },
          "auto (default: on a terminal), always or never")
      ->check(OneOf("value", {"auto", "always", "never"}));
}

int Report(const Arguments& arguments) {
  ReportOptions options;
  bool no_source = false;
  CommandParser parser(
      "report", "report [OPTION...] TRACE...",
      "Show which line leaks, how fast and how certain that is, what holds the memory at the peak, and "
      "what fragmentation costs. Several traces are reported as one job.");
  parser.Positional("TRACE", &options.traces);
  AddFormat(&parser, &options.format, {"text", "json", "html"});
  parser.Option("-o,--output", "FILE", &options.output,
                absl::StrCat(kTextOfOutput, "; HTML on a terminal goes to TRACE.html"));
  parser.Option("--top", "N", &options.top, "the most rows of a table in text (default: 10)")
      ->check(WholeNumber(1, kMostRows));
  parser.Flag("--explain-passes", &options.explain_passes,
              "print on standard error how often the trace is read, why, and how long that takes");
  parser.Flag("--exit-code", &options.exit_code, "exit with 1 for a leak, and with 3 for too little evidence");
  parser.Flag("--raw-stacks", &options.raw_stacks, kTextOfRawStacks);
  parser.Flag("--no-source", &no_source, "leave source code out of the HTML page");
  AddStepMarks(&parser, &options.step_marks);
  AddCategories(&parser, &options.categories);
  parser
      .Option("--horizon", "STEPS", &options.horizon_steps,
              "the planned length of the run: a leak that stays small until then is minor (default: 100000)")
      ->check(WholeNumber(1, kMostSteps));
  AddInput(&parser, &options.search_paths, &options.all_runs);
  AddThreads(&parser, &options.threads);
  AddColor(&parser, &options.color);
  parser.Ending(
      "Exit code: 0 success, 2 bad input or usage; with --exit-code, 1 a leak, 3 not enough evidence for a verdict.");
  int code;
  if (!parser.Parse(arguments, &code)) return code;
  options.source = !no_source;
  return RunReport(options);
}

int Diff(const Arguments& arguments) {
  DiffCommandOptions options;
  CommandParser parser(
      "diff", "diff [OPTION...] BASE NEW",
      "Show what changed between two runs: leaks, the peak, growth, fragmentation, and allocation sites "
      "that are new, gone, larger or smaller. Moved lines and renamed functions are not changes. BASE "
      "and NEW are traces, or folders of them.");
  parser.Positional("BASE", &options.base);
  parser.Positional("NEW", &options.next);
  AddFormat(&parser, &options.format, {"text", "json", "markdown", "html"});
  parser.Option("-o,--output", "FILE", &options.output, kTextOfOutput);
  parser.Option("--top", "N", &options.top, "the most rows of a table in text and Markdown (default: 10)")
      ->check(WholeNumber(1, kMostRows));
  parser.Flag("--explain-passes", &options.explain_passes,
              "print on standard error how often each trace is read, why, and how long that takes");
  parser.List("--rename", "OLD=NEW", &options.renames,
              "a function, class, namespace or file that has another name in NEW; may be repeated");
  parser.Option("--rename-file", "FILE", &options.rename_file, "a file with one OLD=NEW per line");
  parser
      .List("--fail-on", "WHAT", &options.fail_on,
            absl::StrCat("exit with 1 for any of these, separated by commas: ", absl::StrJoin(FailOnNames(), ", "),
                         ". change: any change at all; divergence: other allocations, or in another order"))
      ->delimiter(',')
      ->check(OneOf("change", FailOnNames()));
  AddStepMarks(&parser, &options.step_marks);
  AddCategories(&parser, &options.categories);
  AddThreads(&parser, &options.threads);
  AddInput(&parser, &options.search_paths, &options.all_runs);
  AddColor(&parser, &options.color);
  parser.Ending(
      "Exit code: 0 success, 1 what --fail-on names, 2 bad input or usage, 3 not enough evidence: too few steps to "
      "tell a change from chance, or runs that cannot be compared.");
  int code;
  return parser.Parse(arguments, &code) ? RunDiff(options) : code;
}

int Check(const Arguments& arguments) {
  CheckCommandOptions options;
  CommandParser parser(
      "check", "check [OPTION...] TRACE...",
      "Fail if a run leaks, exceeds a limit or is worse than a baseline. Without options every leak that "
      "is not minor fails. With --baseline, only what the baseline does not have fails. Several traces are checked as "
      "one "
      "job.");
  parser.Positional("TRACE", &options.traces);
  parser.Option("--baseline", "BASE", &options.baseline, "an earlier run to compare with: a trace, or a folder");
  parser.Option("--budget", "FILE", &options.budget_file,
                "limits and exceptions (TOML, see docs/check.md); the options below override it");
  for (const LimitKind& kind : kLimitKinds) {
    parser.Call(
        LimitOption(kind), kind.value,
        [&options, key = kind.key](const std::string& text) { options.limits[key] = text; }, kind.text);
  }
  parser
      .List("--fail-on", "RULE", &options.fail_on,
            "only these rules fail, the others warn; separated by commas (default: all)")
      ->delimiter(',');
  parser.Option("--today", "DATE", &options.today,
                "the date that decides which exceptions have expired, such as 2026-12-31 (default: today, UTC)");
  AddFormat(&parser, &options.format, CheckFormats());
  parser.Option("-o,--output", "FILE", &options.output, kTextOfOutput);
  parser.Option("--source-root", "DIR", &options.source_root,
                "print paths relative to DIR (default: the git work tree, or the current folder)");
  AddStepMarks(&parser, &options.step_marks);
  AddCategories(&parser, &options.categories);
  AddThreads(&parser, &options.threads);
  AddInput(&parser, &options.search_paths, &options.all_runs);
  parser.Ending(
      "Exit code: 0 passed, 1 failed, 2 bad input or usage, 3 nothing failed but there is too little evidence.");
  int code;
  return parser.Parse(arguments, &code) ? RunCheck(options) : code;
}

int Export(const Arguments& arguments) {
  ExportCommandOptions options;
  CommandParser parser(
      "export", "export [OPTION...] TRACE --to FORMAT -o FILE",
      "Convert a trace to another tool's format. Stack formats hold the bytes in use at one moment and the "
      "bytes allocated.");
  parser.Positional("TRACE", &options.trace);
  parser
      .Option("--to", "FORMAT", &options.format,
              "stacks: pprof, speedscope, folded; events: torch-snapshot; curves: perfetto; tables: parquet, csv")
      ->required()
      ->check(OneOf("format", ExportFormatNames()));
  parser
      .List("--table", "TABLE,...", &options.tables,
            absl::StrCat("tables of parquet and csv: ", absl::StrJoin(ExportTableNames(), ", "),
                         " or all (default: sites); several go to a folder, one file each"))
      ->delimiter(',');
  parser.Option("-o,--output", "FILE", &options.output,
                absl::StrCat(kTextOfOutput, "; for tables, FILE may be a folder"));
  parser.Option(
      "--at", "MOMENT", &options.at,
      "the moment for bytes in use: peak (default) or end of each device, oom (the first), or step=N (its end)");
  parser.Option("--steps", "A:B", &options.steps, "only these steps; bytes in use are those at the end of step B");
  parser
      .Option("--level", "LEVEL", &options.level,
              "all (default: a framework's blocks, and driver memory outside its segments), driver or framework")
      ->check(OneOf("level", {"all", "driver", "framework"}));
  parser
      .Option(
          "--value", "VALUE", &options.value,
          "what folded and speedscope hold, and pprof shows first: inuse_space (default), inuse_objects, alloc_space "
          "or alloc_objects")
      ->check(OneOf("value", {"inuse_space", "inuse_objects", "alloc_space", "alloc_objects"}));
  parser
      .Option(
          "--frames", "FRAMES", &options.frames,
          "for folded and speedscope: calls (default), or modules: the names that lead to a model's modules, at the "
          "walk of --holders nearest to the peak")
      ->check(OneOf("frames", {"calls", "modules"}));
  parser
      .Option("--max-events", "N", &options.max_events,
              "keep the last N events, or points of a curve, of each device (default: 100000)")
      ->check(WholeNumber(1, uint64_t{1} << 40));
  parser.Flag("--raw-stacks", &options.raw_stacks, kTextOfRawStacks);
  AddStepMarks(&parser, &options.step_marks);
  AddCategories(&parser, &options.categories);
  AddInput(&parser, &options.search_paths, &options.all_runs);
  AddThreads(&parser, &options.threads);
  parser.Ending("Exit code: 0 success, 2 bad input or usage.");
  int code;
  return parser.Parse(arguments, &code) ? RunExport(options) : code;
}

// Where a summary goes, and its resolution.
void AddSummary(CommandParser* parser, std::string* output, std::string* detail, const std::string& text) {
  parser->Option("-o,--output", "FILE", output, "write to FILE, complete or not at all; - is standard output")
      ->required();
  parser->Option("--detail", "DETAIL", detail, text)->check(OneOf("detail", {"full", "job", "fleet"}));
}

int Summarize(const Arguments& arguments) {
  SummarizeOptions options;
  CommandParser parser(
      "summarize", "summarize [OPTION...] TRACE... -o FILE",
      "Write what report, diff and check need to a small file. Stacks are symbolized, so the binaries are "
      "no longer needed. merge joins summaries.");
  parser.Positional("TRACE", &options.traces);
  AddSummary(&parser, &options.output, &options.detail,
             "resolution of the curves: full (default), job or fleet; merge reduces it as processes become many");
  parser.Option("--top", "N", &options.top, "sites kept of each process besides the leaks (default: 20)")
      ->check(WholeNumber(1, kMostRows));
  AddStepMarks(&parser, &options.step_marks);
  AddCategories(&parser, &options.categories);
  parser.Option("--horizon", "STEPS", &options.horizon_steps, "the planned length of the run (default: 100000)")
      ->check(WholeNumber(1, kMostSteps));
  AddInput(&parser, &options.search_paths, &options.all_runs);
  AddThreads(&parser, &options.threads);
  parser.Ending("Exit code: 0 success, 2 bad input or usage.");
  int code;
  return parser.Parse(arguments, &code) ? RunSummarize(options) : code;
}

int Merge(const Arguments& arguments) {
  MergeOptions options;
  CommandParser parser(
      "merge", "merge [OPTION...] SUMMARY... -o FILE",
      "Join summaries, given as files of summarize and merge or as folders of *.vts. The order does not "
      "matter, and a process that appears in several inputs counts once.");
  parser.Positional("SUMMARY", &options.summaries);
  AddSummary(&parser, &options.output, &options.detail,
             "the highest resolution of the curves: full (default), job (always from 17 processes on) or fleet (from "
             "1025 on)");
  parser.Flag("--keep-going", &options.keep_going, "skip inputs that cannot be read");
  parser.Ending("Exit code: 0 success, 2 bad input or usage.");
  int code;
  return parser.Parse(arguments, &code) ? RunMerge(options) : code;
}

int Info(const Arguments& arguments) {
  InfoOptions options;
  CommandParser parser("info", "info [OPTION...] TRACE...",
                       "Show what a trace contains and how complete it is: process, environment, events by operation, "
                       "losses, threads and modules.");
  parser.Positional("TRACE", &options.traces);
  parser.Flag("--paths", &options.paths, "print only the paths of the traces that TRACE stands for, one per line");
  AddInput(&parser, &options.search_paths, &options.all_runs);
  parser.Ending("Exit code: 0 success, 2 bad input or usage.");
  int code;
  return parser.Parse(arguments, &code) ? RunInfo(options) : code;
}

int Dump(const Arguments& arguments) {
  DumpOptions options;
  CommandParser parser("dump", "dump [OPTION...] TRACE...", "Print the events of a trace in time order, one per line.");
  parser.Positional("TRACE", &options.traces);
  parser.Flag("--stacks", &options.stacks, "print the call stack below each event that has one");
  parser.Flag("--raw-stacks", &options.raw_stacks, absl::StrCat("like --stacks, but ", kTextOfRawStacks));
  AddInput(&parser, &options.search_paths, &options.all_runs);
  parser.Ending("Exit code: 0 success, 2 bad input or usage.");
  int code;
  if (!parser.Parse(arguments, &code)) return code;
  options.stacks |= options.raw_stacks;
  return RunDump(options);
}

// Turns a size such as "2GiB" into bytes, as VRAMTRACK_MAX_BYTES takes them.
std::string ReadSize(std::string& text) {
  const absl::StatusOr<Limit> size = ParseLimit(text, LimitUnit::kBytes);
  if (!size.ok()) return std::string(size.status().message());
  if (size->value < 1) return absl::StrCat("invalid size '", text, "' (examples: 500 MiB, 2 GiB)");
  text = absl::StrCat(static_cast<uint64_t>(std::llround(size->value)));
  return "";
}

// What the recorder of a process is told, by `run` and by `attach`.
template <typename Options>
void AddRecorderOptions(CommandParser* parser, Options* options) {
  parser->Option("--stacks", "KINDS", &options->stacks, "native, python, native,python or none")
      ->check(OneOf("kind of stack", {"native", "python", "native,python", "python,native", "none"}));
  parser
      ->Option("--max-frames", "N", &options->max_frames, "record at most N frames of a stack, 1 to 256 (default: 128)")
      ->check(WholeNumber(1, kMostFrames));
  parser
      ->Option("--max-bytes", "SIZE", &options->max_bytes,
               "the largest trace of one process, such as 500MiB or 2GiB (default: no limit)")
      ->transform(CLI::Validator(ReadSize, ""));
  parser
      ->OptionalValue("--holders", "WHEN", "all", &options->holders,
                      "find which Python objects hold the memory, at these moments: growth, oom, exit, request "
                      "(`vramtrack holders`), an interval such as 30s, several with commas between them, or all: the "
                      "first four (default without a value: all)")
      ->transform(CLI::Validator(ReadHolderMoments, ""));
}

// Returns what is wrong with the options together; empty if nothing is.
template <typename Options>
std::string CheckRecorderOptions(const Options& options) {
  const bool holders = !options.holders.empty() && options.holders != "0";
  const bool python = options.stacks.empty() || absl::StrContains(options.stacks, "python");
  return holders && !python ? "--holders needs Python stacks (expected --stacks python or native,python)" : "";
}

int Run(const Arguments& arguments) {
  RunOptions options;
  CommandParser parser("run", "run [OPTION...] [--] COMMAND [ARG...]",
                       "Run COMMAND and record the CUDA allocations of it and of all processes that it starts. A short "
                       "report follows on standard error. Input, output and exit code are those of COMMAND.");
  parser.Option("-o,--output", "DIR", &options.output,
                "the folder for the traces, one file per process (default: a new folder vramtrack.TIME)");
  AddRecorderOptions(&parser, &options);
  parser.Flag("--cupti", &options.cupti,
              "also record CUPTI memory activity; do not combine it with Nsight or torch.profiler, a process can have "
              "only one CUPTI client");
  parser.Option("--cupti-records", "LIST", &options.cupti_records,
                "the CUPTI records to collect (default: memory,pools): memory, pools, kernels, copies, fills");
  parser.Flag("--dormant", &options.dormant, "record nothing until `vramtrack start`");
  parser.Flag("-q,--quiet", &options.quiet, "print no report at the end");
  parser.StopAtFirstWord();
  parser.Ending(
      "Options must come before COMMAND; the rest of the line belongs to COMMAND.\n"
      "Exit code: that of COMMAND, 126 if COMMAND cannot be started, 127 if it is not found, 2 if tracing cannot "
      "begin. "
      "If a signal kills COMMAND, vramtrack ends by the same signal.");
  auto marker = std::find(arguments.begin(), arguments.end(), "--");
  int code;
  if (!parser.Parse(Arguments(arguments.begin(), marker), &code)) return code;
  options.command = parser.Rest();
  if (!options.command.empty() && options.command[0][0] == '-') return parser.UnknownOption(options.command[0]);
  // A "--" after the command's name is the command's own.
  if (marker != arguments.end() && options.command.empty()) {
    ++marker;
  } else {
    options.own_options = parser.Names();
  }
  options.command.insert(options.command.end(), marker, arguments.end());
  if (options.command.empty() || options.command[0].empty()) return parser.Wrong("COMMAND is missing");
  if (const std::string wrong = CheckRecorderOptions(options); !wrong.empty()) return BadInput(wrong);
  return RunRun(options);
}

int Attach(const Arguments& arguments) {
  AttachOptions options;
  CommandParser parser(
      "attach", "attach [OPTION...] PID",
      "Join a process that was started without vramtrack, and record its CUDA allocations from now on. "
      "What it has allocated before is unknown, and verdicts use what it allocates afterwards. It "
      "needs the permission to trace the process with ptrace, as a debugger does.");
  parser.Positional("PID", &options.pid);
  parser.Option("-o,--output", "DIR", &options.output,
                "the folder for the traces, one file per process (default: a new folder vramtrack.TIME)");
  AddRecorderOptions(&parser, &options);
  parser
      .Option("--timeout", "SECONDS", &options.limit_s,
              "how long to look for a moment at which a thread can be used (default: 10)")
      ->check(CLI::Range(0.1, 3600.0));
  parser.Ending("Exit code: 0 the process is recorded, 2 bad input or usage, or it cannot be joined.");
  int code;
  if (!parser.Parse(arguments, &code)) return code;
  if (options.pid < 1) return parser.Wrong(absl::StrCat("invalid process number '", options.pid, "'"));
  if (const std::string wrong = CheckRecorderOptions(options); !wrong.empty()) return BadInput(wrong);
  return RunAttach(options);
}

int SwitchRecording(const Arguments& arguments, const std::string& name, const std::string& about,
                    int (*run)(const RecordingOptions&)) {
  RecordingOptions options;
  CommandParser parser(name, name + " PID|DIR", about);
  parser.Positional("PID|DIR", &options.target);
  parser.Ending("Exit code: 0 success, 2 bad input or usage.");
  int code;
  return parser.Parse(arguments, &code) ? run(options) : code;
}

int Start(const Arguments& arguments) {
  return SwitchRecording(arguments, "start",
                         "Switch recording on in processes that run --dormant has started or that stop has stopped. "
                         "For a folder of traces, all processes that write one are started at once; for a launcher, "
                         "all that it has started. After a stop, a process begins a new trace.",
                         &RunStart);
}

int Stop(const Arguments& arguments) {
  return SwitchRecording(arguments, "stop",
                         "Switch recording off in processes that are recorded, and complete their traces. For a folder "
                         "of traces, all processes that write one are stopped at once; for a launcher, all that it has "
                         "started. The processes go on.",
                         &RunStop);
}

int Holders(const Arguments& arguments) {
  HoldersOptions options;
  CommandParser parser("holders", "holders [OPTION...] PID|TRACE",
                       "Ask a running process which of its Python objects hold its memory, and wait for the answer. It "
                       "is added to the process's trace. The process must have been started with run --holders, or "
                       "joined with attach --holders. For a folder of traces, all processes that still write one are "
                       "asked; for a launcher, all that it "
                       "has started.");
  parser.Positional("PID|TRACE", &options.target);
  parser.Option("--timeout", "SECONDS", &options.timeout_s, "how long to wait for the answer (default: 30)")
      ->check(WholeNumber(1, kMostTimeoutSeconds));
  parser.Ending("Exit code: 0 answered, 2 bad input or usage, 3 no answer in time.");
  int code;
  return parser.Parse(arguments, &code) ? RunHolders(options) : code;
}

int Top(const Arguments& arguments) {
  TopOptions options;
  CommandParser parser("top", "top [OPTION...] [TRACE|PID]",
                       "Watch a job that runs: its devices, and each line with how fast it grows, how sure that is and "
                       "how much it holds. TRACE is a trace, or a folder of them (default: this folder); PID is a "
                       "process that is traced, or the launcher of such processes.");
  parser.OptionalPositional("TRACE|PID", &options.target);
  AddInterval(&parser, &options.interval_s);
  parser.Flag("--once", &options.once, "print one look and end");
  parser.Flag("--json", &options.json, "print each look as a report in JSON, one per line");
  parser.Option("--top", "N", &options.top, "the most rows where the output is not a terminal (default: 20)")
      ->check(WholeNumber(1, kMostRows));
  AddStepMarks(&parser, &options.step_marks);
  AddCategories(&parser, &options.categories);
  AddSearchPath(&parser, &options.search_paths);
  AddColor(&parser, &options.color);
  parser.Ending(
      "Keys: q quit, p pause, b mark (live bytes are then shown relative to this moment; again: no more), s order by "
      "rate, live bytes or bytes at the peak, / search, d next device, arrows and Enter the stack of a line, w write "
      "the HTML page of this moment.\n"
      "Exit code: 0 success, 2 bad input or usage.");
  int code;
  return parser.Parse(arguments, &code) ? RunTop(options) : code;
}

int View(const Arguments& arguments) {
  ViewOptions options;
  bool no_browser = false, no_source = false;
  CommandParser parser("view", "view [OPTION...] TRACE|PID",
                       "Serve the HTML page of a job to a browser of this machine, and open it. The page follows a job "
                       "that runs. TRACE is a trace, or a folder of them; PID is a process that is traced, or the "
                       "launcher of such processes.");
  parser.Positional("TRACE|PID", &options.target);
  parser.Option("--port", "PORT", &options.port, "the port of the server (default: any free one)")
      ->check(WholeNumber(1, kMostPort));
  parser.Flag("--no-browser", &no_browser, "only print the address");
  parser.Flag("--no-source", &no_source, "leave source code out of the page");
  AddInterval(&parser, &options.interval_s);
  AddStepMarks(&parser, &options.step_marks);
  AddCategories(&parser, &options.categories);
  AddSearchPath(&parser, &options.search_paths);
  parser.Ending(
      "The server listens on 127.0.0.1 only, and answers only requests that have the random part of the address. It "
      "ends with Ctrl+C or when its terminal is closed.\n"
      "Exit code: 2 bad input or usage.");
  int code;
  if (!parser.Parse(arguments, &code)) return code;
  options.browser = !no_browser;
  options.source = !no_source;
  return RunView(options);
}

int Watch(const Arguments& arguments) {
  WatchOptions options;
  CommandParser parser("watch", "watch [OPTION...] TRACE|PID",
                       "Run a command once for each new leak of a job that runs, or when a device will soon be full; "
                       "serve its figures to Prometheus. The command gets JSON on its standard input. TRACE is a "
                       "trace, or a folder of them; PID is a "
                       "process that is traced, or the launcher of such processes.");
  parser.Positional("TRACE|PID", &options.target);
  parser.Option("--on-leak", "COMMAND", &options.on_leak, "run this by the shell when a line is found to leak");
  parser.Option("--on-full", "COMMAND", &options.on_full,
                "run this by the shell when a device will be full in less than --seconds-to-full");
  parser.Option("--seconds-to-full", "SECONDS", &options.seconds_to_full, "for --on-full (default: 3600)")
      ->check(CLI::Range(1.0, 1e9));
  parser
      .Option("--listen", "[HOST]:PORT", &options.listen,
              "serve the figures of the last look as OpenMetrics at http://HOST:PORT/metrics (default HOST: all "
              "interfaces)")
      ->check([](const std::string& text) { return std::string(ParseListenAddress(text).status().message()); });
  const CLI::Option* const interval =
      AddInterval(&parser, &options.interval_s, absl::StrCat(", with --listen ", kListenIntervalSeconds));
  parser.Flag("--once", &options.once, "look once and end");
  parser.Flag("--wait", &options.waits, "wait for the first trace if there is none yet");
  AddStepMarks(&parser, &options.step_marks);
  AddCategories(&parser, &options.categories);
  AddSearchPath(&parser, &options.search_paths);
  parser.Ending("Exit code: 0 with --once, 2 bad input or usage.");
  int code;
  if (!parser.Parse(arguments, &code)) return code;
  if (options.on_leak.empty() && options.on_full.empty() && options.listen.empty()) {
    return parser.Wrong("nothing to do (expected --on-leak, --on-full or --listen)");
  }
  if (!options.listen.empty() && interval->count() == 0) options.interval_s = kListenIntervalSeconds;
  return RunWatch(options);
}

struct Command {
  const char* name;
  int (*run)(const Arguments&);
  const char* usage;
  const char* text;
};

constexpr Command kCommands[] = {
    {"run", Run, "run [-o DIR] -- COMMAND", "trace a command and the processes that it starts"},
    {"report", Report, "report TRACE", "show what leaks and what holds the memory"},
    {"top", Top, "top [TRACE|PID]", "watch a job that runs"},
    {"view", View, "view TRACE", "show the HTML page in a browser, also of a job that runs"},
    {"watch", Watch, "watch TRACE --on-leak COMMAND", "run a command when a running job begins to leak"},
    {"attach", Attach, "attach PID", "join a process that runs"},
    {"start", Start, "start PID|DIR", "switch recording on"},
    {"stop", Stop, "stop PID|DIR", "switch recording off"},
    {"diff", Diff, "diff BASE NEW", "show what changed between two runs"},
    {"check", Check, "check TRACE", "fail on leaks, regressions and exceeded budgets, for CI"},
    {"export", Export, "export TRACE --to FORMAT -o FILE",
     "convert to pprof, memory_viz, Perfetto, Parquet and others"},
    {"summarize", Summarize, "summarize TRACE -o FILE", "write a small file that stands for the trace"},
    {"merge", Merge, "merge SUMMARY... -o FILE", "join the summaries of a job or a fleet"},
    {"info", Info, "info TRACE", "show what a trace contains and how complete it is"},
    {"dump", Dump, "dump TRACE [--stacks]", "print the events of a trace, one per line"},
    {"holders", Holders, "holders PID|TRACE", "ask a running process what holds its memory"},
};

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

int PrintOverview() {
  constexpr int kUsageColumns = 45;
  std::string text =
      "Usage: vramtrack COMMAND [ARGUMENT...]\n"
      "Find the lines of a CUDA program that leak GPU memory, and what holds the rest.\n\n";
  for (const Command& command : kCommands) {
    absl::StrAppend(&text, "  vramtrack ", PadRight(command.usage, kUsageColumns - 12), " ", command.text, "\n");
  }
  return Print(
      text +
      "\nTRACE is a file that vramtrack wrote, or a folder of them: all processes of a job. report, diff, check, "
      "export\nand info also take summaries.\n"
      "`vramtrack help COMMAND` shows the options of a command, `vramtrack version` the version.\n");
}

const Command* FindCommand(const std::string& name) {
  for (const Command& command : kCommands) {
    if (name == command.name) return &command;
  }
  return nullptr;
}

// What the user meant by a first word that is not a command. Empty: unknown.
std::string Meant(const Arguments& arguments, bool for_help) {
  const std::string& word = arguments[0];
  std::vector<std::string> names = CommandNames();
  names.insert(names.end(), {"help", "version"});
  if (word.empty() || word[0] == '-') {
    return NearMiss(word, {"--help", "--version"});
  }
  if (for_help) return NearMiss(word, names);
  struct stat info;
  const bool is_path = stat(word.c_str(), &info) == 0;
  const std::string rest = absl::StrJoin(arguments, " ");
  if (is_path && (IsTraceName(word) || absl::EndsWith(word, ".vts"))) return "vramtrack report " + rest;
  if (is_path && absl::EndsWith(word, ".py")) return "vramtrack run -- python " + rest;
  if (const std::string near = NearMiss(word, names); !near.empty()) return near;
  return FindProgram(word).empty() ? "" : "vramtrack run -- " + rest;
}

int UnknownCommand(const Arguments& arguments, bool for_help = false) {
  const std::string& word = arguments[0];
  const std::string what =
      !word.empty() && word[0] == '-' ? "unknown option " + word : absl::StrCat("unknown command '", word, "'");
  const std::string meant = Meant(arguments, for_help);
  if (meant.empty()) return BadInput(what + "; see vramtrack --help");
  const bool is_word = meant.find(' ') == std::string::npos && meant[0] != '-';
  return BadInput(is_word ? absl::StrCat(what, "; did you mean '", meant, "'?")
                          : absl::StrCat(what, "; did you mean", meant[0] == '-' ? " " : ": ", meant, "?"));
}

int PrintHelp(const Arguments& topic) {
  if (topic.empty()) return PrintOverview();
  if (const Command* command = FindCommand(topic[0])) return command->run({"--help"});
  return topic[0] == "help" || topic[0] == "version" ? PrintOverview() : UnknownCommand(topic, true);
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    return BadInput(
        absl::StrCat("COMMAND is missing (expected ", JoinChoices(CommandNames()), "); see vramtrack --help"));
  }
  const std::string& word = arguments[0];
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if (word == "--help" || word == "-h") return PrintOverview();
  if (word == "help") return PrintHelp(rest);
  if (word == "--version" || word == "version") return PrintVersion();
  if (const Command* command = FindCommand(word)) return command->run(rest);
  return UnknownCommand(arguments);
}

}  // namespace vramtrack
