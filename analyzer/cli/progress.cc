// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "analyzer/render/display_text.h"

namespace vramtrack {

Progress::Progress(std::string what) : what_(std::move(what)) {
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
    fprintf(stderr, "\r%s ... %d s", CutBeginning(Printable(what_), 60).c_str(), ++seconds);
  }
  // Nothing of it stays on the screen.
  if (seconds > 0) fprintf(stderr, "\r\x1b[K");
}

}  // namespace vramtrack
