// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/viewed_traces.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/cli/progress.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/render/html/source_lines.h"
#include "analyzer/render/html/trace_list.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

constexpr std::chrono::seconds kStillAsked(10);  // after a page asked last
constexpr std::chrono::seconds kBetweenLists(2);
constexpr uint64_t kNanosPerSecond = 1000000000;

// Changes when one of the files does, as far as the file system tells: the size and the time of a mapped file that is
// written may stay.
std::string SignatureOf(const std::vector<std::string>& paths) {
  std::string signature;
  for (const std::string& path : paths) {
    struct stat info = {};
    stat(path.c_str(), &info);
    absl::StrAppend(&signature, path, "|", info.st_ino, "|", info.st_size, "|", info.st_mtim.tv_sec, ".",
                    info.st_mtim.tv_nsec, "\n");
  }
  return signature;
}

bool HasEnded(const Report& report) {
  return std::all_of(report.processes.begin(), report.processes.end(),
                     [](const ReportProcess& process) { return process.complete; });
}

std::string LinkTo(size_t number) { return absl::StrCat(number, "/"); }

ListedTrace ListTrace(const std::string& path, size_t number) {
  struct stat info = {};
  stat(path.c_str(), &info);
  return {std::filesystem::path(path).filename().string(), LinkTo(number), static_cast<uint64_t>(info.st_size),
          info.st_mtime};
}

}  // namespace

absl::Status ViewedTraces::Open() {
  if (const absl::StatusOr<std::vector<std::string>> listed = ListTraces(options_.target); !listed.ok()) {
    return listed.status();
  }
  FindAgain();
  if (!only_) return absl::OkStatus();
  View& view = *views_[*only_];
  Progress progress("analyzing " + options_.target);
  view.asked = Clock::now();
  Read(&view);
  return view.state.version > 0 ? absl::OkStatus() : absl::InvalidArgumentError(view.state.trouble);
}

size_t ViewedTraces::NumberOf(const std::string& path, const std::optional<std::string>& run_id) {
  const auto [at, is_new] = numbers_.emplace(run_id ? "run " + *run_id : path, views_.size());
  if (!is_new) return at->second;
  LiveJob job(path, options_.step_marks, options_.search_paths);
  if (run_id) job.ChooseRun(*run_id);
  job.ListSites(kMaxPageSites);
  auto view = std::make_unique<View>(std::move(job));
  view->brief = std::make_shared<const std::string>(RenderUpdate(LiveState(), ""));
  const std::lock_guard<std::mutex> lock(mutex_);
  views_.push_back(std::move(view));
  return at->second;
}

void ViewedTraces::FindAgain() {
  next_list_ = Clock::now() + kBetweenLists;
  const absl::StatusOr<std::vector<std::string>> listed = ListTraces(options_.target);
  if (!listed.ok()) return;  // what was there stays
  std::vector<ListedRun> runs;
  std::optional<size_t> only;
  if (listed->size() == 1 || !IsTraceName(listed->front())) {
    // One trace, or summaries, which are not sorted into runs.
    ListedRun run;
    for (const std::string& path : *listed) run.traces.push_back(ListTrace(path, NumberOf(path, std::nullopt)));
    if (listed->size() == 1) {
      only = NumberOf(listed->front(), std::nullopt);
    } else {
      only = NumberOf(options_.target, std::nullopt);
      run.link = LinkTo(*only);
    }
    runs.push_back(std::move(run));
  } else {
    const TraceRuns sorted = SortIntoRuns(*listed);
    for (const TraceRun& one : sorted.runs) {
      ListedRun run;
      run.started = static_cast<std::time_t>(one.start_ns / kNanosPerSecond);
      run.link = LinkTo(NumberOf(options_.target, one.run_id));
      for (const std::string& path : one.paths) run.traces.push_back(ListTrace(path, NumberOf(path, std::nullopt)));
      runs.push_back(std::move(run));
    }
    if (!sorted.unreadable.empty()) {
      ListedRun run;
      for (const std::string& path : sorted.unreadable) {
        run.traces.push_back(ListTrace(path, NumberOf(path, std::nullopt)));
      }
      runs.push_back(std::move(run));
    }
    if (sorted.runs.size() == 1) only = NumberOf(options_.target, sorted.runs[0].run_id);
  }
  auto list = std::make_shared<const std::string>(RenderTraceList(options_.target, runs, kToolVersion));
  const std::lock_guard<std::mutex> lock(mutex_);
  list_ = std::move(list);
  listed_ = listed->size() > 1;
  only_ = only;
}

void ViewedTraces::Work() {
  const Clock::time_point now = Clock::now();
  std::vector<View*> asked;
  bool list = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    list = list_asked_ > now - kStillAsked;
    for (const std::unique_ptr<View>& view : views_) {
      if (view->asked > now - kStillAsked) asked.push_back(view.get());
    }
  }
  if ((list || !asked.empty()) && now >= next_list_) FindAgain();
  for (View* view : asked) {
    if (now >= view->next) Read(view);
  }
}

void ViewedTraces::Read(View* view) {
  LiveState state = view->state;  // only this thread changes it
  state.listed = listed_;
  const absl::Status found = view->job.Find();
  view->next =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.interval_s));
  if (!found.ok()) {
    state.trouble = std::string(found.message());
    return Publish(view, nullptr, std::move(state));
  }
  std::string signature = SignatureOf(view->job.paths());
  if (signature == view->signature && state.ended) return Publish(view, nullptr, std::move(state));
  const LiveJob::Look look = view->job.Read();
  const std::chrono::duration<double> pause(LiveJob::Pause(look, options_.interval_s));
  view->next = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
  if (!look.report.ok()) {
    state.trouble = std::string(look.report.status().message());
    return Publish(view, nullptr, std::move(state));
  }
  view->signature = std::move(signature);
  state.trouble.clear();
  state.ended = HasEnded(*look.report);
  Publish(view, &*look.report, std::move(state));
}

void ViewedTraces::Publish(View* view, const Report* report, LiveState state) {
  if (report != nullptr) {
    std::vector<SourceExcerpt> source;
    if (options_.source) source = ReadSource(*report, WhenRecorded(view->job.paths()));
    std::string parts = RenderPageParts(*report, source);
    if (parts != view->parts) {
      view->parts = std::move(parts);
      ++state.version;
    }
  }
  auto brief = std::make_shared<const std::string>(RenderUpdate(state, ""));
  if (view->brief && *brief == *view->brief) return;
  Text whole;
  if (state.version > 0) whole = std::make_shared<const std::string>(RenderUpdate(state, view->parts));
  const std::lock_guard<std::mutex> lock(mutex_);
  view->state = std::move(state);
  view->brief = std::move(brief);
  view->whole = std::move(whole);
}

std::optional<size_t> ViewedTraces::only() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return only_;
}

ViewedTraces::Text ViewedTraces::Update(size_t number, uint64_t have) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (number >= views_.size()) return nullptr;
  View& view = *views_[number];
  view.asked = Clock::now();
  return have == view.state.version || !view.whole ? view.brief : view.whole;
}

ViewedTraces::Text ViewedTraces::List() {
  const std::lock_guard<std::mutex> lock(mutex_);
  list_asked_ = Clock::now();
  return list_;
}

}  // namespace vramtrack
