// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/commands.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "analyzer/base/ordered_work.h"
#include "analyzer/cli/option_values.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {

int RunSummarize(const SummarizeOptions& options) {
  std::vector<std::string> inputs = options.traces;
  inputs.push_back(options.categories);
  if (absl::Status output = CheckOutput(options.output, inputs); !output.ok()) {
    return BadInput(std::string(output.message()));
  }
  const absl::StatusOr<TraceChoice> choice = ChooseAndSay(options.traces, options.all_runs);
  if (!choice.ok()) return BadInput(std::string(choice.status().message()));
  const std::vector<std::string>& paths = choice->paths;
  absl::StatusOr<CategoryRules> categories = ReadCategories(options.categories);
  if (!categories.ok()) return BadInput(std::string(categories.status().message()));
  AnalyzeOptions analyze;
  analyze.categories = *std::move(categories);
  if (options.top != 0) analyze.top = options.top;
  analyze.step_marks = options.step_marks;
  analyze.horizon_steps = options.horizon_steps;
  analyze.symbols.search.search_paths = options.search_paths;
  analyze.symbols.modules = std::make_shared<ModuleStore>();
  const size_t threads = ProcessorsToUse(options.threads);
  const size_t at_once = std::min(threads, paths.size());
  analyze.threads = threads / at_once;
  AnalysisProgress far;
  far.all_files = paths.size();
  analyze.progress = &far;
  Summary summary;
  {
    Progress progress("summarizing " + options.traces[0], &far);
    OrderedWork<absl::StatusOr<ProcessSummary>> work(paths.size(), at_once,
                                                     [&](size_t i) { return SummarizeProcess(paths[i], analyze); });
    for (size_t i = 0; i < paths.size(); ++i) {
      const absl::StatusOr<ProcessSummary> process = work.Take();
      ++far.files;
      if (process.ok()) {
        summary.Add(*process);
        summary.Reduce(DetailNamed(options.detail));
        continue;
      }
      // One bad file of a job must not hide what the others say.
      const std::string why(process.status().message());
      if (i + 1 == paths.size() && summary.records().empty()) return BadInput(why);
      summary.AddLack("left out: " + why);
      Say("left out: " + why);
    }
  }
  return WriteOutput(options.output, summary.Write());
}

namespace {

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

int RunMerge(const MergeOptions& options) {
  if (absl::Status output = CheckOutput(options.output, options.summaries); !output.ok()) {
    return BadInput(std::string(output.message()));
  }
  std::vector<std::string> paths;
  for (const std::string& given : options.summaries) {
    const std::vector<std::string> files = SummariesIn(given);
    if (files.empty()) return BadInput(given + ": no *.vts in this folder; `vramtrack summarize` writes them");
    paths.insert(paths.end(), files.begin(), files.end());
  }
  Summary merged;
  AnalysisProgress far;
  far.all_files = paths.size();
  size_t bad = 0;
  {
    Progress progress("merging", &far);
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
      merged.Reduce(DetailNamed(options.detail));
    }
  }
  if (bad > 0 && (!options.keep_going || merged.records().empty())) {
    return BadInput("nothing is written" + std::string(options.keep_going ? "" : "; --keep-going merges the others"));
  }
  return WriteOutput(options.output, merged.Write());
}

}  // namespace vramtrack
