// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {

namespace {

// ", 120 million events, 3 of 1000 files"; empty while there is nothing to tell.
std::string HowFar(const AnalysisProgress& analysis) {
  std::string text;
  if (const uint64_t millions = analysis.events / 1000000; millions > 0) {
    absl::StrAppend(&text, ", ", millions, " million events");
  }
  if (const uint64_t all = analysis.all_files; all > 1) {
    absl::StrAppend(&text, ", ", analysis.files.load(), " of ", all, " files");
  }
  return text;
}

}  // namespace

Progress::Progress(std::string what, const AnalysisProgress* analysis) : what_(std::move(what)), analysis_(analysis) {
  if (isatty(STDERR_FILENO) == 1) thread_ = std::thread(&Progress::Show, this);
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    done_ = true;
  }
  done_changed_.notify_all();
  thread_.join();
}

void Progress::Show() {
  std::unique_lock<std::mutex> lock(mutex_);
  int seconds = 0;
  while (!done_changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) {
    const std::string far = analysis_ != nullptr ? HowFar(*analysis_) : "";
    fprintf(stderr, "\r%s ... %d s%s\x1b[K", CutBeginning(Printable(what_), 60).c_str(), ++seconds, far.c_str());
  }
  // Nothing of it stays on the screen.
  if (seconds > 0) fprintf(stderr, "\r\x1b[K");
}

}  // namespace vramtrack
