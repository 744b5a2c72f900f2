// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/commands.h"

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
#include "absl/strings/str_split.h"
#include "analyzer/base/choices.h"
#include "analyzer/cli/option_values.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/export/exporter.h"
#include "analyzer/export/site_names.h"
#include "analyzer/export/tables.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {
namespace {

// Empty if `text` is FIRST:LAST, or it names a moment: then it is in `options`. Otherwise what is wrong, in one line.
std::string ReadSteps(const std::string& text, ExportOptions* options) {
  const std::vector<std::string> ends = absl::StrSplit(text, ':');
  uint64_t first = 0, last = 0;
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &first) || !absl::SimpleAtoi(ends[1], &last) || last < first) {
    return absl::StrCat("--steps: invalid range '", text, "' (example: 10:20)");
  }
  options->steps = {first, last};
  return "";
}

std::string ReadMoment(const std::string& text, ExportOptions* options) {
  using At = ExportOptions::At;
  constexpr char kStep[] = "step=";
  for (const auto& [name, at] :
       {std::pair("peak", At::kPeak), std::pair("end", At::kEnd), std::pair("oom", At::kOom)}) {
    options->at = at;
    if (text == name) return "";
  }
  options->at = At::kStep;
  const bool is_step = text.rfind(kStep, 0) == 0 && absl::SimpleAtoi(text.substr(strlen(kStep)), &options->step);
  return is_step ? "" : absl::StrCat("--at: unknown moment '", text, "' (expected peak, end, oom or step=N)");
}

std::string ReadOptions(const ExportCommandOptions& command, ExportOptions* options) {
  using Levels = ExportOptions::Levels;
  options->levels = command.level == "driver"      ? Levels::kDriver
                    : command.level == "framework" ? Levels::kFramework
                                                   : Levels::kAll;
  options->value = command.value;
  options->modules = command.frames == "modules";
  options->max_events = command.max_events;
  absl::StatusOr<CategoryRules> categories = ReadCategories(command.categories);
  if (!categories.ok()) return std::string(categories.status().message());
  options->analyze.categories = *std::move(categories);
  options->analyze.step_marks = command.step_marks;
  options->analyze.threads = command.threads;
  options->analyze.symbols.search.search_paths = command.search_paths;
  if (command.raw_stacks) options->analyze.stacks = StackDetail::kRaw;
  if (!command.steps.empty()) {
    if (std::string wrong = ReadSteps(command.steps, options); !wrong.empty()) return wrong;
    options->at = ExportOptions::At::kStep;
    options->step = options->steps->second;
  }
  return command.at.empty() ? "" : ReadMoment(command.at, options);
}

// The tables that are asked for, each once. Empty if `wrong` is not.
std::vector<std::string> ReadTables(const ExportFormat& format, std::vector<std::string> wanted, std::string* wrong) {
  if (!format.tables) {
    if (!wanted.empty())
      *wrong = absl::StrCat("--table: ", format.name, " does not hold tables (use --to parquet or csv)");
    return {""};
  }
  std::vector<std::string> tables;
  if (wanted.empty()) wanted = {ExportOptions().table};
  for (const std::string& name : wanted) {
    if (name == "all") return ExportTableNames();
    if (FindExportTable(name) == nullptr) {
      std::vector<std::string> known = ExportTableNames();
      known.emplace_back("all");
      *wrong = "--table: " + UnknownChoice("table", name, known);
      return {};
    }
    if (std::find(tables.begin(), tables.end(), name) == tables.end()) tables.push_back(name);
  }
  return tables;
}

// Empty if the options fit --frames modules. A walk is a moment of its own.
std::string CheckModules(const ExportCommandOptions& command) {
  if (command.frames != "modules") return "";
  if (command.format != "folded" && command.format != "speedscope") {
    return absl::StrCat("--frames: ", command.format, " has no frames of modules (use --to folded or speedscope)");
  }
  for (const auto& [name, given] :
       {std::pair("--at", !command.at.empty()), std::pair("--steps", !command.steps.empty()),
        std::pair("--level", command.level != "all")}) {
    if (given) return absl::StrCat(name, ": not with --frames modules, which are those of a walk's moment");
  }
  if (command.value.rfind("inuse", 0) == 0) return "";
  return absl::StrCat("--value: ", command.value, " is not known by module (use inuse_space or inuse_objects)");
}

bool IsFolder(const std::string& path) {
  struct stat there;
  return stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode);
}

// One file that is written, and what writes it.
struct ExportedFile {
  ExportedFile(const std::string& path, OutputFile::Links links, const ExportFormat& format,
               const ExportOptions& wanted)
      : options(wanted),
        out(path, links),
        exporter(format.make(options, [this](std::string_view bytes) { return out.Write(bytes); })) {}

  const ExportOptions options;
  OutputStream out;
  std::unique_ptr<Exporter> exporter;
};

absl::Status ExportTrace(const std::string& path, const ExportOptions& options, std::deque<ExportedFile>* files) {
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
  if (!trace.ok()) return trace.status();
  absl::StatusOr<std::unique_ptr<ExportedProcess>> process = ExportedProcess::Make(**trace, options);
  if (!process.ok()) return process.status();
  for (ExportedFile& file : *files) {
    if (absl::Status status = file.exporter->Add(**process); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ExportSummary(const std::string& path, const Summary& summary, std::deque<ExportedFile>* files) {
  for (const auto& [identity, record] : summary.records()) {
    absl::StatusOr<ProcessSummary> process = summary.Decode(identity, record);
    if (!process.ok()) return process.status();
    NameSites(&process->findings);
    for (ExportedFile& file : *files) {
      if (absl::Status status = file.exporter->AddSummary(path, *process); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

// Traces one by one, and then the processes of all summaries, each once. `named`: as the user names all of them.
absl::Status ExportAll(const std::vector<std::string>& paths, const std::string& named, const ExportOptions& options,
                       std::deque<ExportedFile>* files) {
  Summary summaries;
  for (const std::string& path : paths) {
    if (IsSummaryFile(path)) {
      std::string damage;
      absl::StatusOr<Summary> summary = ReadSummaryFile(path, &damage);
      if (!summary.ok()) return summary.status();
      if (!damage.empty()) Say(damage);
      summaries.Join(*summary);
    } else if (absl::Status status = ExportTrace(path, options, files); !status.ok()) {
      return status;
    }
    ++options.analyze.progress->files;
  }
  if (absl::Status status = ExportSummary(named, summaries, files); !status.ok()) return status;
  for (ExportedFile& file : *files) file.exporter->Finish();
  return absl::OkStatus();
}

}  // namespace

int RunExport(const ExportCommandOptions& command) {
  const ExportFormat* format = FindExportFormat(command.format);
  if (format == nullptr) return BadInput("--to: " + UnknownChoice("format", command.format, ExportFormatNames()));
  if (const std::string wrong = CheckModules(command); !wrong.empty()) return BadInput(wrong);
  ExportOptions options;
  if (const std::string wrong = ReadOptions(command, &options); !wrong.empty()) {
    return BadInput(wrong);
  }
  std::string wrong;
  const std::vector<std::string> tables = ReadTables(*format, command.tables, &wrong);
  if (!wrong.empty()) return BadInput(wrong);
  const bool in_folder = tables.size() > 1 || (format->tables && IsFile(command.output) && IsFolder(command.output));
  if (in_folder && !IsFile(command.output)) return BadInput("--table: several tables need a folder (use -o DIR)");
  if (!IsFile(command.output) && isatty(STDOUT_FILENO) != 0 && format->binary) {
    return BadInput(absl::StrCat("refusing to write binary ", format->name, " to a terminal (use -o FILE)"));
  }
  const absl::StatusOr<TraceChoice> choice = ChooseAndSay(command.trace, command.all_runs);
  if (!choice.ok()) return BadInput(std::string(choice.status().message()));
  if (in_folder && mkdir(command.output.c_str(), 0777) != 0 && errno != EEXIST) {
    return BadInput(absl::StrCat("cannot create folder '", command.output, "': ", strerror(errno)));
  }
  AnalysisProgress far;
  far.all_files += choice->paths.size();
  options.analyze.progress = &far;
  std::deque<ExportedFile> files;  // they stay where they are
  for (const std::string& table : tables) {
    options.table = table;
    const std::string output = in_folder ? absl::StrCat(command.output, "/", table, ".", format->name) : command.output;
    if (absl::Status status = CheckOutput(output, {command.trace}); !status.ok()) {
      return BadInput(std::string(status.message()));
    }
    files.emplace_back(output, in_folder ? OutputFile::Links::kReplace : OutputFile::Links::kFollow, *format, options);
  }
  {
    Progress progress("exporting " + command.trace, &far);
    const absl::Status status = ExportAll(choice->paths, command.trace, options, &files);
    if (!status.ok()) return BadInput(std::string(status.message()));
  }
  for (ExportedFile& file : files) {
    if (const int code = file.out.Finish(); code != kExitFine) return code;
  }
  return kExitFine;
}

}  // namespace vramtrack
