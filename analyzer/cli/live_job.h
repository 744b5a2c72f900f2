// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_LIVE_JOB_H_
#define ANALYZER_CLI_LIVE_JOB_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "analyzer/attribution/category.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/findings/followed_process.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// The traces of a job that may still run, read again and again. Thread-compatible. Where there is one, a trace that is
// truncated while it is read does not end the process: that look has an error.
class LiveJob {
 public:
  // `target`: a process number, a trace or a folder of traces.
  LiveJob(std::string target, AnalyzeOptions options);

  // From now on takes the traces of this run of a folder, instead of its newest.
  void ChooseRun(std::string run_id) { run_id_ = std::move(run_id); }
  // From now on, reports list up to so many sites besides the leaks.
  void ListSites(size_t sites) { analyze_.top = sites; }

  const std::string& target() const { return target_; }
  const std::vector<std::string>& paths() const { return paths_; }  // of the traces that were found

  // Finds the traces: the processes of a job come one by one. After an error, which is one line, the traces that were
  // found before stay: those of a process that has ended are still there.
  absl::Status Find();

  struct Look {
    absl::StatusOr<Report> report = absl::UnknownError("");
    double seconds = 0;  // that it took
  };
  // Reads what the traces have more than at the last look, on one processor; see FollowedProcess for what is left out.
  Look Read();
  // Reads the traces from their beginning: the whole report.
  Look ReadWhole() const;

  // Returns how long to wait after a look that read for `seconds`: reading takes at most a tenth of one processor.
  static std::chrono::duration<double> Pause(double seconds, double least_s);

  // Looks again and again, and finds the traces anew before each look but the first. `on_look` gets each look and may
  // add to its seconds; it returns a code to end with, or nullopt to go on. `whole`: with the whole report each time.
  int Follow(double least_s, bool whole, const std::function<std::optional<int>(Look*)>& on_look);

 private:
  // Makes the report. `known`: findings that were made already, of traces that are not read then; may be null.
  // `began`: when the look began.
  Look ReportOn(KnownFindings* known, std::chrono::steady_clock::time_point began) const;

  const std::string target_;
  AnalyzeOptions analyze_;  // its modules keep what was read from the program's files
  std::optional<std::string> run_id_;
  std::vector<std::string> paths_;
  std::map<std::string, FollowedProcess> followed_;  // by path
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_LIVE_JOB_H_
