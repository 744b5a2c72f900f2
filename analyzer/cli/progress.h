// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_PROGRESS_H_
#define ANALYZER_CLI_PROGRESS_H_

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "analyzer/base/analysis_progress.h"

namespace vramtrack {

// Shows on stderr what is running and how far it is, as long as the object exists and from one second on. Does nothing
// unless stderr is a terminal.
class Progress {
 public:
  // `analysis` is progress to show in addition to the time; it may be null, and must outlive this object.
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

// Runs `work` in a new thread. Returns false if it has not finished within `limit`: it then continues, so everything
// that it uses must live until the process ends. If no thread can be started, runs `work` in this one.
bool EndsWithin(std::chrono::duration<double> limit, std::function<void()> work);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_PROGRESS_H_
