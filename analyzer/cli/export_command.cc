// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/export_command.h"

#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/cli/say.h"
#include "analyzer/export/exporter.h"
#include "analyzer/ingest/trace_paths.h"

namespace vramtrack {
namespace {

// Empty if `text` is FIRST:LAST, or it names a moment: then it is in `options`. Otherwise what is wrong, in one line.
std::string ReadSteps(const std::string& text, ExportOptions* options) {
  const std::vector<std::string> ends = absl::StrSplit(text, ':');
  uint64_t first = 0, last = 0;
  if (ends.size() != 2 || !absl::SimpleAtoi(ends[0], &first) || !absl::SimpleAtoi(ends[1], &last) || last < first) {
    return "--steps " + text + " is not FIRST:LAST, the numbers of two steps";
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
  return is_step ? "" : "--at " + text + " is not peak, end, oom or step=N";
}

std::string ReadOptions(const ExportCommandOptions& command, ExportOptions* options) {
  using Levels = ExportOptions::Levels;
  options->levels = command.level == "driver"      ? Levels::kDriver
                    : command.level == "framework" ? Levels::kFramework
                                                   : Levels::kAll;
  options->value = command.value;
  options->max_events = command.max_events;
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

}  // namespace

int RunExport(const ExportCommandOptions& command) {
  const ExportFormat* format = FindExportFormat(command.format);
  if (format == nullptr) {
    return BadInput("--to " + command.format + ": there is " + ExportFormatNames() + "; see vramtrack export --help");
  }
  ExportOptions options;
  options.at = format->at;
  if (const std::string wrong = ReadOptions(command, &options); !wrong.empty()) {
    return BadInput(wrong + "; see vramtrack export --help");
  }
  if (!IsFile(command.output) && isatty(STDOUT_FILENO) != 0 && format->binary) {
    return BadInput(std::string(format->name) + " is not for a terminal: give a file with -o");
  }
  absl::StatusOr<std::vector<std::string>> paths = ListTraces(command.trace);
  if (!paths.ok()) return BadInput(std::string(paths.status().message()));
  OutputStream out(command.output);
  const ExportSink sink = [&out](std::string_view bytes) { return out.Write(bytes); };
  AnalysisProgress far;
  far.all_files += paths->size();
  options.analyze.progress = &far;
  const std::unique_ptr<Exporter> exporter = format->make(options, sink);
  {
    Progress progress("exporting " + command.trace, &far);
    for (const std::string& path : *paths) {
      absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
      if (!trace.ok()) return BadInput(std::string(trace.status().message()));
      absl::StatusOr<std::unique_ptr<ExportedProcess>> process = ExportedProcess::Make(**trace, options);
      if (!process.ok()) return BadInput(std::string(process.status().message()));
      if (absl::Status status = exporter->Add(**process); !status.ok()) return BadInput(std::string(status.message()));
      ++far.files;
    }
    exporter->Finish();
  }
  return out.Finish();
}

}  // namespace vramtrack
