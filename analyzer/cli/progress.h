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

// While it exists, shows on stderr which work is running and how far it is, from one second on. Only if stderr is a
// terminal.
class Progress {
 public:
  // `analysis`: progress to show besides the time; may be null, and must outlive this object.
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

// Does `work` in a new thread. Returns false if it has not ended after `limit`: it continues then, so everything that
// it uses must live until the process ends. If no thread can be started, `work` runs in this one.
bool EndsWithin(std::chrono::duration<double> limit, std::function<void()> work);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_PROGRESS_H_
