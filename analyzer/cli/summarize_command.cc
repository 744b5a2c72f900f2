// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "analyzer/base/ordered_work.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {

namespace {

// Where a summary goes, and its resolution.
void AddSummary(CommandParser* parser, std::string* output, std::string* detail, const std::string& text) {
  parser->Option("-o,--output", "FILE", output, "write to FILE, complete or not at all; - is standard output")
      ->required();
  parser->Option("--detail", "DETAIL", detail, text)->check(OneOf("detail", {"full", "job", "fleet"}));
}

// One bad file of a job must not hide what the others say.
Summary SummaryOf(const std::vector<std::string>& paths, const std::string& detail, AnalyzeOptions* analyze) {
  const size_t threads = ProcessorsToUse(analyze->threads);
  const size_t at_once = std::min(threads, paths.size());
  analyze->threads = threads / at_once;
  OrderedWork<absl::StatusOr<ProcessSummary>> work(paths.size(), at_once,
                                                   [&](size_t i) { return SummarizeProcess(paths[i], *analyze); });
  Summary summary;
  for (size_t i = 0; i < paths.size(); ++i) {
    const absl::StatusOr<ProcessSummary> process = work.Take();
    ++analyze->progress->files;
    if (process.ok()) {
      summary.Add(*process);
      summary.Reduce(DetailNamed(detail));
      continue;
    }
    if (i + 1 == paths.size() && summary.records().empty()) OrFail(process.status());
    const std::string why = "left out: " + std::string(process.status().message());
    summary.AddLack(why);
    Say(why);
  }
  return summary;
}

// The files of a folder, sorted; a path that is not a folder stands for itself.
std::vector<std::string> SummariesIn(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return {path};
  std::vector<std::string> paths;
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".vts") paths.push_back(entry->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

int SummarizeCommand(const Arguments& arguments) {
  std::vector<std::string> traces;
  std::string output, detail = "full";
  AnalysisOptions options;
  CommandParser parser(
      "summarize [OPTION...] TRACE... -o FILE",
      "Write what report, diff and check need to a small file. Stacks are symbolized, so the binaries are "
      "no longer needed. merge joins summaries.");
  parser.Positional("TRACE", &traces);
  AddSummary(&parser, &output, &detail,
             "resolution of the curves: full (default), job or fleet; merge reduces it as processes become many");
  AddTop(&parser, &options.analyze.top, "sites kept of each process besides the leaks (default: 20)");
  AddStepMarksAndCategories(&parser, &options);
  AddHorizon(&parser, &options, "the planned length of the run");
  AddInput(&parser, &options);
  AddThreads(&parser, &options);
  if (const auto code = parser.Parse(arguments)) return *code;

  std::vector<std::string> inputs = traces;
  inputs.push_back(options.categories);
  CheckOutput(output, inputs);
  const TraceChoice choice = ChooseAndSay(traces, options.all_runs);
  options.ReadCategories();
  options.analyze.symbols.modules = std::make_shared<ModuleStore>();
  AnalysisProgress far;
  far.all_files = choice.paths.size();
  options.analyze.progress = &far;
  const Summary summary = [&] {
    const Progress progress("summarizing " + traces[0], &far);
    return SummaryOf(choice.paths, detail, &options.analyze);
  }();
  return WriteOutput(output, summary.Write());
}

int MergeCommand(const Arguments& arguments) {
  std::vector<std::string> given;
  std::string output, detail = "full";
  bool keep_going = false;
  CommandParser parser("merge [OPTION...] SUMMARY... -o FILE",
                       "Join summaries, given as files of summarize and merge or as folders of *.vts. The order does "
                       "not matter, and a process that appears in several inputs counts once.");
  parser.Positional("SUMMARY", &given);
  AddSummary(&parser, &output, &detail,
             "the highest resolution of the curves: full (default), job (always from 17 processes on) or fleet (from "
             "1025 on)");
  parser.Flag("--keep-going", &keep_going, "skip inputs that cannot be read");
  if (const auto code = parser.Parse(arguments)) return *code;

  CheckOutput(output, given);
  std::vector<std::string> paths;
  for (const std::string& path : given) {
    const std::vector<std::string> files = SummariesIn(path);
    if (files.empty()) return BadInput(path + ": no *.vts in this folder; `vramtrack summarize` writes them");
    paths.insert(paths.end(), files.begin(), files.end());
  }
  Summary merged;
  AnalysisProgress far;
  far.all_files = paths.size();
  size_t bad = 0;
  {
    const Progress progress("merging", &far);
    for (const std::string& path : paths) {
      std::string damage;
      const absl::StatusOr<Summary> summary = ReadSummaryFile(path, &damage);
      ++far.files;
      if (!summary.ok()) damage = std::string(summary.status().message());
      if (!damage.empty()) {
        ++bad;
        Say(damage);
        merged.AddLack(summary.ok() ? damage : "left out: " + damage);
      }
      if (!summary.ok()) continue;
      merged.Join(*summary);
      merged.Reduce(DetailNamed(detail));
    }
  }
  if (bad > 0 && (!keep_going || merged.records().empty())) {
    return BadInput("nothing is written" + std::string(keep_going ? "" : "; --keep-going merges the others"));
  }
  return WriteOutput(output, merged.Write());
}

}  // namespace vramtrack
