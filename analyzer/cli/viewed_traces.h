// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_VIEWED_TRACES_H_
#define ANALYZER_CLI_VIEWED_TRACES_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "analyzer/cli/live_job.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/render/html/html.h"

namespace vramtrack {

struct ViewOptions {
  LiveOptions live;
  bool source = true;  // show source lines
};

// The traces that `vramtrack view` shows, each run and each trace with a number, and what is known of them. One thread
// reads; any thread may ask. Nothing is read that nobody asks for.
class ViewedTraces {
 public:
  using Text = std::shared_ptr<const std::string>;

  // `options` must outlive it.
  explicit ViewedTraces(const ViewOptions& options) : options_(options) {}

  // Finds the traces and, if they are of one run, reads that. An error is one line. To be called first.
  absl::Status Open();

  // Reads what was asked for and may be newer now. To be called again and again, by one thread.
  void Work();

  // Any thread may call these.
  // Returns the number of the only run; nullopt if there are several, which the list shows.
  std::optional<size_t> only() const;
  // Returns what RenderUpdate renders, without the report if that is the version `have`. Null: the number is unknown.
  Text Update(size_t number, uint64_t have);
  // Returns the list of the folder as HTML.
  Text List();

 private:
  using Clock = std::chrono::steady_clock;

  struct View {
    // Of the thread that reads.
    std::string path;
    std::optional<std::string> run_id;  // of the folder `path`; nullopt: what `path` is
    std::optional<LiveJob> job;         // nullopt until it is read
    std::string signature;              // of the files of the last report
    Clock::time_point next_report = Clock::time_point::min();
    Clock::time_point next_check = Clock::time_point::min();  // whether it has ended
    std::string report;                                       // as RenderPageReport renders it
    // Guarded by mutex_.
    Clock::time_point asked = Clock::time_point::min();
    LiveState state;
    Text whole, brief;
  };

  absl::Status FindAgain();
  size_t NumberOf(const std::string& path, const std::optional<std::string>& run_id);
  // Returns when to read again after a reading that began at `begin`.
  Clock::time_point NextAfter(Clock::time_point begin) const;
  // Finds the traces of a page.
  absl::Status Find(View* view) const;
  // Makes the whole report, unless nothing has changed since the last one.
  void Read(View* view);
  absl::Status ReadInto(View* view, LiveState* state) const;
  // Returns whether the job has ended since the last report, which need not wait for its time then.
  bool HasJustEnded(View* view) const;
  void Publish(View* view, LiveState state);

  const ViewOptions& options_;
  std::map<std::string, size_t> numbers_;  // of a path, or of a run id after "run "
  Clock::time_point next_list_ = Clock::time_point::min();
  mutable std::mutex mutex_;
  // Guarded by mutex_; only added to.
  std::vector<std::unique_ptr<View>> views_;
  std::optional<size_t> only_;
  bool listed_ = false;
  Clock::time_point list_asked_ = Clock::time_point::min();
  Text list_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_VIEWED_TRACES_H_
