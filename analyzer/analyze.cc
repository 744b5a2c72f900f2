// SPDX-License-Identifier: Apache-2.0
#include "analyzer/analyze.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/job_findings.h"
#include "analyzer/findings/process_findings.h"
#include "analyzer/ingest/trace.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

absl::StatusOr<ProcessFindings> FindIn(const std::string& path, const AnalyzeOptions& options) {
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
  if (!trace.ok()) return trace.status();
  ProcessFindings findings = FindInProcess(**trace, options);
  if (options.progress != nullptr) ++options.progress->files;
  return findings;
}

// Analyses several traces at once and gives what was found in their order. No more than a few are done and not taken,
// so that memory does not grow with the number of traces. One thread takes.
class ProcessQueue {
 public:
  ProcessQueue(const std::vector<std::string>& paths, const AnalyzeOptions& options, size_t threads)
      : paths_(paths), options_(options), found_(paths.size()), most_ahead_(2 * threads) {
    for (size_t i = 1; i < threads; ++i) {
      try {
        threads_.emplace_back([this] { Work(); });
      } catch (const std::system_error&) {
        break;  // the others do it
      }
    }
  }
  ~ProcessQueue() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      next_ = paths_.size();
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // To be called once for each trace.
  absl::StatusOr<ProcessFindings> Take() {
    std::unique_lock<std::mutex> lock(mutex_);
    const size_t wanted = taken_++;
    changed_.notify_all();
    while (!found_[wanted]) {
      // Who waits may as well work.
      if (!WorkOnNext(&lock)) changed_.wait(lock);
    }
    absl::StatusOr<ProcessFindings> findings = *std::move(found_[wanted]);
    found_[wanted].reset();
    return findings;
  }

 private:
  void Work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (next_ < paths_.size()) {
      if (!WorkOnNext(&lock)) changed_.wait(lock);
    }
  }

  // False if there is nothing to do at the moment.
  bool WorkOnNext(std::unique_lock<std::mutex>* lock) {
    if (next_ == paths_.size() || next_ >= taken_ + most_ahead_) return false;
    const size_t mine = next_++;
    lock->unlock();
    absl::StatusOr<ProcessFindings> findings = FindIn(paths_[mine], options_);
    lock->lock();
    found_[mine] = std::move(findings);
    changed_.notify_all();
    return true;
  }

  const std::vector<std::string>& paths_;
  const AnalyzeOptions& options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::optional<absl::StatusOr<ProcessFindings>>> found_;
  size_t next_ = 0, taken_ = 0;
  const size_t most_ahead_;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::StatusOr<Report> Analyze(const std::vector<std::string>& paths, const AnalyzeOptions& options) {
  if (paths.empty()) return absl::InvalidArgumentError("no trace given");
  AnalyzeOptions each = options;
  if (each.threads == 0) each.threads = std::max(1u, std::thread::hardware_concurrency());
  const size_t at_once = std::min(each.threads, paths.size());
  each.threads /= at_once;
  // Processes of a job have most of their modules in common.
  if (paths.size() > 1 && each.symbols.modules == nullptr) each.symbols.modules = std::make_shared<ModuleStore>();
  if (each.progress != nullptr) each.progress->all_files += paths.size();

  ProcessQueue queue(paths, each, at_once);
  FindingsJoin join;
  std::vector<std::string> unreadable;
  for (size_t i = 0; i < paths.size(); ++i) {
    absl::StatusOr<ProcessFindings> findings = queue.Take();
    if (!findings.ok()) {
      // One bad file of a job must not hide what the others say.
      unreadable.emplace_back(findings.status().message());
      if (unreadable.size() == paths.size()) return findings.status();
      continue;
    }
    join.Add(*std::move(findings));
  }
  Report report = join.Finish();
  report.tool_version = kToolVersion;
  for (const std::string& line : unreadable) report.warnings.push_back(absl::StrCat("left out: ", line));
  return report;
}

}  // namespace vramtrack
