// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {
namespace {

// ", pass 2 of 3, 43 %, about 20 s left", or ", 3 of 1000 files"; empty while there is nothing to tell.
std::string HowFar(const AnalysisProgress& analysis, int seconds) {
  if (const uint64_t all = analysis.all_files; all > 1) {
    return absl::StrCat(", ", analysis.files.load(), " of ", all, " files");
  }
  const uint64_t pass = analysis.pass, passes = analysis.passes;
  if (pass == 0 || passes == 0) return "";
  std::string text = absl::StrCat(", pass ", pass, " of ", std::max(pass, passes));
  const double planned = static_cast<double>(analysis.planned_events);
  const double done = std::min(static_cast<double>(analysis.events), planned);
  constexpr double kToTellFrom = 0.05;
  if (done < kToTellFrom * planned || done >= planned) return text;
  absl::StrAppendFormat(&text, ", %.0f %%, about %.0f s left", 100 * done / planned,
                        std::ceil(seconds * (planned - done) / done));
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
    ++seconds;
    const std::string far = analysis_ != nullptr ? HowFar(*analysis_, seconds) : "";
    fprintf(stderr, "\r%s ... %d s%s\x1b[K", CutBeginning(Printable(what_), 60).c_str(), seconds, far.c_str());
  }
  // Nothing of it stays on the screen.
  if (seconds > 0) fprintf(stderr, "\r\x1b[K");
}

namespace {

struct State {
  std::mutex mutex;
  std::condition_variable done_changed;
  bool done = false;  // guarded by mutex
};

}  // namespace

bool EndsWithin(std::chrono::duration<double> limit, std::function<void()> work) {
  const auto state = std::make_shared<State>();
  try {
    std::thread([state, work] {
      work();
      const std::lock_guard<std::mutex> lock(state->mutex);
      state->done = true;
      state->done_changed.notify_one();
    }).detach();
  } catch (const std::system_error&) {
    work();
    return true;
  }
  std::unique_lock<std::mutex> lock(state->mutex);
  return state->done_changed.wait_for(lock, limit, [&state] { return state->done; });
}

}  // namespace vramtrack
