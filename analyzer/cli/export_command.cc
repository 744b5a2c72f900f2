// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "analyzer/base/choices.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/export/exporter.h"
#include "analyzer/export/site_names.h"
#include "analyzer/export/tables.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {
namespace {

// What the command line says of an export, before it is checked.
struct ExportArguments {
  std::string trace, format, output;
  std::vector<std::string> tables;
  std::string at, steps, level = "all", frames = "calls";
  bool raw_stacks = false;
  AnalysisOptions analysis;
};

[[noreturn]] void Wrong(const std::string& option, const std::string& what) {
  throw CommandFailure{absl::StrCat(option, ": ", what)};
}

std::pair<uint64_t, uint64_t> ReadSteps(const std::string& text) {
  const std::vector<std::string> ends = absl::StrSplit(text, ':');
  uint64_t first = 0, last = 0;
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &first) || !absl::SimpleAtoi(ends[1], &last) || last < first) {
    Wrong("--steps", absl::StrCat("invalid range '", text, "' (example: 10:20)"));
  }
  return {first, last};
}

void ReadMoment(const std::string& text, ExportOptions* options) {
  using At = ExportOptions::At;
  constexpr char kStep[] = "step=";
  for (const auto& [name, at] :
       {std::pair("peak", At::kPeak), std::pair("end", At::kEnd), std::pair("oom", At::kOom)}) {
    options->at = at;
    if (text == name) return;
  }
  options->at = At::kStep;
  if (text.rfind(kStep, 0) == 0 && absl::SimpleAtoi(text.substr(strlen(kStep)), &options->step)) return;
  Wrong("--at", absl::StrCat("unknown moment '", text, "' (expected peak, end, oom or step=N)"));
}

void ReadExportOptions(ExportArguments* given, ExportOptions* options) {
  using Levels = ExportOptions::Levels;
  options->levels = given->level == "driver"      ? Levels::kDriver
                    : given->level == "framework" ? Levels::kFramework
                                                  : Levels::kAll;
  options->modules = given->frames == "modules";
  given->analysis.ReadCategories();
  options->analyze = given->analysis.analyze;
  if (given->raw_stacks) options->analyze.stacks = StackDetail::kRaw;
  if (!given->steps.empty()) {
    options->steps = ReadSteps(given->steps);
    options->at = ExportOptions::At::kStep;
    options->step = options->steps->second;
  }
  if (!given->at.empty()) ReadMoment(given->at, options);
}

// The tables that are asked for, each once.
std::vector<std::string> ReadTables(const ExportFormat& format, std::vector<std::string> wanted) {
  if (!format.tables) {
    if (!wanted.empty()) Wrong("--table", absl::StrCat(format.name, " does not hold tables (use --to parquet or csv)"));
    return {""};
  }
  std::vector<std::string> tables;
  if (wanted.empty()) wanted = {ExportOptions().table};
  for (const std::string& name : wanted) {
    if (name == "all") return ExportTableNames();
    if (FindExportTable(name) == nullptr) {
      std::vector<std::string> known = ExportTableNames();
      known.emplace_back("all");
      Wrong("--table", UnknownChoice("table", name, known));
    }
    if (std::find(tables.begin(), tables.end(), name) == tables.end()) tables.push_back(name);
  }
  return tables;
}

// Whether the options fit --frames modules. A walk is a moment of its own.
void CheckModules(const ExportArguments& given, const std::string& value) {
  if (given.frames != "modules") return;
  if (given.format != "folded" && given.format != "speedscope") {
    Wrong("--frames", absl::StrCat(given.format, " has no frames of modules (use --to folded or speedscope)"));
  }
  for (const auto& [name, is_given] : {std::pair("--at", !given.at.empty()), std::pair("--steps", !given.steps.empty()),
                                       std::pair("--level", given.level != "all")}) {
    if (is_given) Wrong(name, "not with --frames modules, which are those of a walk's moment");
  }
  if (value.rfind("inuse", 0) == 0) return;
  Wrong("--value", absl::StrCat(value, " is not known by module (use inuse_space or inuse_objects)"));
}

bool IsFolder(const std::string& path) {
  struct stat there;
  return stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode);
}

// One file that is written, and what writes it.
struct ExportedFile {
  ExportedFile(const std::string& path, OutputStream::Links links, const ExportFormat& format,
               const ExportOptions& wanted)
      : options(wanted),
        out(path, links),
        exporter(format.make(options, [this](std::string_view bytes) { return out.Write(bytes); })) {}

  const ExportOptions options;
  OutputStream out;
  std::unique_ptr<Exporter> exporter;
};

void ExportTrace(const std::string& path, const ExportOptions& options, std::deque<ExportedFile>* files) {
  const std::unique_ptr<Trace> trace = OrFail(Trace::Open(path));
  const std::unique_ptr<ExportedProcess> process = OrFail(ExportedProcess::Make(*trace, options));
  for (ExportedFile& file : *files) OrFail(file.exporter->Add(*process));
}

void ExportSummary(const std::string& path, const Summary& summary, std::deque<ExportedFile>* files) {
  for (const auto& [identity, record] : summary.records()) {
    ProcessSummary process = OrFail(summary.Decode(identity, record));
    NameSites(&process.findings);
    for (ExportedFile& file : *files) OrFail(file.exporter->AddSummary(path, process));
  }
}

// Traces one by one, and then the processes of all summaries, each once. `named`: as the user names all of them.
void ExportAll(const std::vector<std::string>& paths, const std::string& named, const ExportOptions& options,
               std::deque<ExportedFile>* files) {
  Summary summaries;
  for (const std::string& path : paths) {
    if (IsSummaryFile(path)) {
      std::string damage;
      const Summary summary = OrFail(ReadSummaryFile(path, &damage));
      if (!damage.empty()) Say(damage);
      summaries.Join(summary);
    } else {
      ExportTrace(path, options, files);
    }
    ++options.analyze.progress->files;
  }
  ExportSummary(named, summaries, files);
  for (ExportedFile& file : *files) file.exporter->Finish();
}

}  // namespace

int ExportCommand(const Arguments& arguments) {
  ExportArguments given;
  ExportOptions options;
  CommandParser parser(
      "export [OPTION...] TRACE --to FORMAT -o FILE",
      "Convert a trace to another tool's format. Stack formats hold the bytes in use at one moment and the "
      "bytes allocated.");
  parser.Positional("TRACE", &given.trace);
  parser
      .Option("--to", "FORMAT", &given.format,
              "stacks: pprof, speedscope, folded; events: torch-snapshot; curves: perfetto; tables: parquet, csv")
      ->required()
      ->check(OneOf("format", ExportFormatNames()));
  parser
      .List("--table", "TABLE,...", &given.tables,
            absl::StrCat("tables of parquet and csv: ", absl::StrJoin(ExportTableNames(), ", "),
                         " or all (default: sites); several go to a folder, one file each"))
      ->delimiter(',');
  AddOutput(&parser, &given.output, "; for tables, FILE may be a folder");
  parser.Option(
      "--at", "MOMENT", &given.at,
      "the moment for bytes in use: peak (default) or end of each device, oom (the first), or step=N (its end)");
  parser.Option("--steps", "A:B", &given.steps, "only these steps; bytes in use are those at the end of step B");
  parser
      .Option("--level", "LEVEL", &given.level,
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
          "--frames", "FRAMES", &given.frames,
          "for folded and speedscope: calls (default), or modules: the names that lead to a model's modules, at the "
          "walk of --holders nearest to the peak")
      ->check(OneOf("frames", {"calls", "modules"}));
  parser
      .Option("--max-events", "N", &options.max_events,
              "keep the last N events, or points of a curve, of each device (default: 100000)")
      ->check(WholeNumber(1, uint64_t{1} << 40));
  parser.Rare();
  parser.Flag("--raw-stacks", &given.raw_stacks, kTextOfRawStacks);
  AddStepMarksAndCategories(&parser, &given.analysis);
  AddInput(&parser, &given.analysis);
  AddThreads(&parser, &given.analysis);
  if (const auto code = parser.Parse(arguments)) return *code;

  const ExportFormat& format = *FindExportFormat(given.format);
  CheckModules(given, options.value);
  ReadExportOptions(&given, &options);
  const std::vector<std::string> tables = ReadTables(format, given.tables);
  const bool in_folder = tables.size() > 1 || (format.tables && IsFile(given.output) && IsFolder(given.output));
  if (in_folder && !IsFile(given.output)) return BadInput("--table: several tables need a folder (use -o DIR)");
  if (!IsFile(given.output) && isatty(STDOUT_FILENO) != 0 && format.binary) {
    return BadInput(absl::StrCat("refusing to write binary ", format.name, " to a terminal (use -o FILE)"));
  }
  const TraceChoice choice = ChooseAndSay({given.trace}, given.analysis.all_runs);
  if (in_folder && mkdir(given.output.c_str(), 0777) != 0 && errno != EEXIST) {
    return BadInput(absl::StrCat("cannot create folder '", given.output, "': ", strerror(errno)));
  }
  AnalysisProgress far;
  far.all_files += choice.paths.size();
  options.analyze.progress = &far;
  std::deque<ExportedFile> files;  // they stay where they are
  for (const std::string& table : tables) {
    options.table = table;
    const std::string output = in_folder ? absl::StrCat(given.output, "/", table, ".", format.name) : given.output;
    CheckOutput(output, {given.trace});
    files.emplace_back(output, in_folder ? OutputStream::Links::kReplace : OutputStream::Links::kFollow, format,
                       options);
  }
  {
    const Progress progress("exporting " + given.trace, &far);
    ExportAll(choice.paths, given.trace, options, &files);
  }
  for (ExportedFile& file : files) {
    if (const int code = file.out.Finish(); code != kExitFine) return code;
  }
  return kExitFine;
}

}  // namespace vramtrack
