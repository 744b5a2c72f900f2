// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_PROGRESS_H_
#define ANALYZER_CLI_PROGRESS_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "analyzer/base/analysis_progress.h"

namespace vramtrack {

// While it lives, and once a second has passed, says on stderr what takes so long and how far it is. Only where stderr
// is a terminal.
class Progress {
 public:
  // `analysis`: what to tell of besides the time; may be null, and must outlive it.
  explicit Progress(std::string what, const AnalysisProgress* analysis = nullptr);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void Show();

  const std::string what_;
  const AnalysisProgress* const analysis_;
  std::mutex mutex_;
  std::condition_variable done_changed_;
  bool done_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_PROGRESS_H_
