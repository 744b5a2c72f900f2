// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/commands.h"

#include <algorithm>
#include <memory>

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

}  // namespace vramtrack
