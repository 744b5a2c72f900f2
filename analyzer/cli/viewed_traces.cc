// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/viewed_traces.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/cli/holder_request.h"
#include "analyzer/cli/mapped_header.h"
#include "analyzer/cli/progress.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/render/html/html.h"
#include "analyzer/render/html/source_lines.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

constexpr std::chrono::seconds kStillAsked(10);  // after a page asked last
constexpr std::chrono::seconds kBetweenLists(2);
constexpr int kIdleShare = 19;  // reports take at most a twentieth of one processor
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

// Whether all traces are complete. A look at their first pages.
bool AreFinished(const std::vector<std::string>& paths) {
  return std::all_of(paths.begin(), paths.end(), [](const std::string& path) {
    const absl::StatusOr<MappedHeader> header = MappedHeader::Open(path);
    return header.ok() && header->finished();
  });
}

// From the list.
std::string LinkTo(size_t number) { return absl::StrCat("../", number, "/"); }

ListedTrace ListTrace(const std::string& path, size_t number) {
  struct stat info = {};
  stat(path.c_str(), &info);
  return {std::filesystem::path(path).filename().string(), LinkTo(number), static_cast<uint64_t>(info.st_size),
          info.st_mtime};
}

}  // namespace

absl::Status ViewedTraces::Open() {
  Progress progress("analyzing " + options_.live.target);
  if (absl::Status found = FindAgain(); !found.ok()) return found;
  if (!only_) return absl::OkStatus();
  View& view = *views_[*only_];
  view.asked = Clock::now();
  Read(&view);
  return view.state.version > 0 ? absl::OkStatus() : absl::InvalidArgumentError(view.state.trouble);
}

size_t ViewedTraces::NumberOf(const std::string& path, const std::optional<std::string>& run_id) {
  const auto [at, is_new] = numbers_.emplace(run_id ? "run " + *run_id : path, views_.size());
  if (!is_new) return at->second;
  auto view = std::make_unique<View>();
  view->path = path;
  view->run_id = run_id;
  view->brief = std::make_shared<const std::string>(RenderUpdate(LiveState(), ""));
  const std::lock_guard<std::mutex> lock(mutex_);
  views_.push_back(std::move(view));
  return at->second;
}

absl::Status ViewedTraces::FindAgain() {
  const Clock::time_point begin = Clock::now();
  const std::string& target = options_.live.target;
  const bool of_process = IsProcessNumber(target);
  const absl::StatusOr<std::vector<std::string>> listed = of_process ? TracesOfProcess(target) : ListTraces(target);
  next_list_ = Clock::now() + std::max<Clock::duration>(kBetweenLists, kIdleShare * (Clock::now() - begin));
  // What was there stays.
  if (!listed.ok()) return listed.status();
  std::vector<ListedRun> runs;
  std::vector<size_t> pages;  // of whole runs
  size_t traces = 0;
  const auto add = [&](const TraceRun& run) -> ListedRun& {
    ListedRun& added = runs.emplace_back();
    added.started = static_cast<std::time_t>(run.start_ns / kNanosPerSecond);
    for (const std::string& path : run.paths) added.traces.push_back(ListTrace(path, NumberOf(path, std::nullopt)));
    traces += run.paths.size();
    return added;
  };
  const auto add_with_page = [&](const TraceRun& run, const std::optional<std::string>& run_id) {
    ListedRun& added = add(run);
    pages.push_back(NumberOf(target, run_id));
    added.link = LinkTo(pages.back());
  };
  if (listed->size() == 1) {
    add({"", 0, *listed, {}});
  } else if (of_process || !IsTraceName(listed->front())) {
    // Those of one job, or summaries, which are not sorted into runs.
    add_with_page({"", 0, *listed, {}}, std::nullopt);
  } else {
    const TraceRuns sorted = SortIntoRuns(*listed);
    for (const TraceRun& run : sorted.runs) {
      add_with_page(run, run.run_id);
      if (!run.earlier.empty()) add({"", 0, run.earlier, {}});
    }
    if (!sorted.unreadable.empty()) add({"", 0, sorted.unreadable, {}});
  }
  std::optional<size_t> only;
  if (pages.size() == 1) only = pages[0];
  if (traces == 1) only = 0;
  auto list = std::make_shared<const std::string>(RenderTraceList(target, runs, kToolVersion));
  const std::lock_guard<std::mutex> lock(mutex_);
  list_ = std::move(list);
  listed_ = traces > 1;
  only_ = only;
  return absl::OkStatus();
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
  if ((list || !asked.empty()) && now >= next_list_) FindAgain().IgnoreError();
  for (View* view : asked) {
    if (now >= view->next_report || HasJustEnded(view)) Read(view);
  }
}

ViewedTraces::Clock::time_point ViewedTraces::NextAfter(Clock::time_point begin) const {
  const std::chrono::duration<double> least(options_.live.interval_s);
  return Clock::now() +
         std::max(std::chrono::duration_cast<Clock::duration>(least), kIdleShare * (Clock::now() - begin));
}

absl::Status ViewedTraces::Find(View* view) const {
  if (!view->job) {
    view->job.emplace(view->path, options_.live.analysis.analyze);
    if (view->run_id) view->job->ChooseRun(*view->run_id);
    view->job->ListSites(kMaxPageSites);
  }
  const absl::Status found = view->job->Find();
  // The traces of processes that have ended are still there.
  return view->job->paths().empty() || !IsProcessNumber(view->path) ? found : absl::OkStatus();
}

absl::Status ViewedTraces::ReadInto(View* view, LiveState* state) const {
  // A job that runs may write without a sign that it does.
  const std::string known = state->ended && state->trouble.empty() ? view->signature : "";
  if (absl::Status found = Find(view); !found.ok()) return found;
  std::string signature = SignatureOf(view->job->paths());
  if (signature == known) return absl::OkStatus();
  const absl::StatusOr<Report> report = view->job->ReadWhole().report;
  if (!report.ok()) return report.status();
  std::vector<SourceExcerpt> source;
  if (options_.source) source = ReadSource(*report, view->job->paths());
  std::string rendered = RenderPageReport(*report, source);
  state->trouble.clear();
  state->ended = HasEnded(*report);
  if (rendered != view->report) ++state->version;
  view->signature = std::move(signature);
  view->report = std::move(rendered);
  return absl::OkStatus();
}

void ViewedTraces::Read(View* view) {
  LiveState state = view->state;  // only this thread changes it
  state.listed = listed_;
  const Clock::time_point begin = Clock::now();
  const absl::Status read = ReadInto(view, &state);
  if (!read.ok()) state.trouble = std::string(read.message());
  view->next_report = NextAfter(begin);
  Publish(view, std::move(state));
}

bool ViewedTraces::HasJustEnded(View* view) const {
  const Clock::time_point now = Clock::now();
  if (view->state.ended || now < view->next_check) return false;
  view->next_check = NextAfter(now);
  if (!Find(view).ok()) return false;
  return AreFinished(view->job->paths()) && SignatureOf(view->job->paths()) != view->signature;
}

void ViewedTraces::Publish(View* view, LiveState state) {
  auto brief = std::make_shared<const std::string>(RenderUpdate(state, ""));
  if (view->brief && *brief == *view->brief) return;
  Text whole;
  if (state.version > 0) whole = std::make_shared<const std::string>(RenderUpdate(state, view->report));
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
