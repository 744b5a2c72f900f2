// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/commands.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {
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
