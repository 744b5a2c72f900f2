// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/viewed_traces.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/cli/category_option.h"
#include "analyzer/cli/holder_request.h"
#include "analyzer/cli/live_job.h"
#include "analyzer/cli/progress.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/render/html/source_lines.h"
#include "analyzer/render/html/trace_list.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

constexpr std::chrono::seconds kStillAsked(10);  // after a page asked last
constexpr std::chrono::seconds kBetweenLists(2);
constexpr int kIdleShare = 9;  // reading takes at most a tenth of one processor
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

const char* Flag(bool set) { return set ? "1" : ""; }

bool HasEnded(const Report& report) {
  return std::all_of(report.processes.begin(), report.processes.end(),
                     [](const ReportProcess& process) { return process.complete; });
}

// From the list.
std::string LinkTo(size_t number) { return absl::StrCat("../", number, "/"); }

ListedTrace ListTrace(const std::string& path, size_t number) {
  struct stat info = {};
  stat(path.c_str(), &info);
  return {std::filesystem::path(path).filename().string(), LinkTo(number), static_cast<uint64_t>(info.st_size),
          info.st_mtime};
}

// What the reading process does. The first field of a request and of an answer says what it is.
class Reader {
 public:
  explicit Reader(const ViewOptions& options) : options_(options) {}

  WorkerProcess::Fields Answer(const WorkerProcess::Fields& request) {
    return request[0] == "list" ? List() : Read(request);
  }

 private:
  using Fields = WorkerProcess::Fields;

  // {"list"} -> {"runs", then for each run: "run", its id, seconds since 1970, number of traces, their paths}. The run
  // "one" has no page; that of "all" is the page of the folder.
  Fields List() const {
    const bool of_process = IsProcessNumber(options_.target);
    const absl::StatusOr<std::vector<std::string>> listed =
        of_process ? TracesOfProcess(options_.target) : ListTraces(options_.target);
    if (!listed.ok()) return {"trouble", std::string(listed.status().message())};
    Fields answer = {"runs"};
    auto add = [&answer](const char* kind, const TraceRun& run) {
      answer.insert(answer.end(),
                    {kind, run.run_id, absl::StrCat(run.start_ns / kNanosPerSecond), absl::StrCat(run.paths.size())});
      answer.insert(answer.end(), run.paths.begin(), run.paths.end());
    };
    if (listed->size() == 1 || of_process || !IsTraceName(listed->front())) {
      // One trace, those of one job, or summaries, which are not sorted into runs.
      add(listed->size() == 1 ? "apart" : "all", {"", 0, *listed});
      return answer;
    }
    const TraceRuns sorted = SortIntoRuns(*listed);
    for (const TraceRun& run : sorted.runs) add("run", run);
    if (!sorted.unreadable.empty()) add("apart", {"", 0, sorted.unreadable});
    return answer;
  }

  // {"read", path, run or not, run id, signature or empty} ->
  // {"same"} or {"trouble", text} or {"report", ended, signature, parts}.
  Fields Read(const Fields& request) {
    std::unique_ptr<LiveJob>& at = jobs_[std::make_pair(request[1], request[2] + request[3])];
    if (at == nullptr) {
      absl::StatusOr<CategoryRules> categories = ReadCategories(options_.categories);
      if (!categories.ok()) return {"trouble", std::string(categories.status().message())};
      at = std::make_unique<LiveJob>(request[1], options_.step_marks, *std::move(categories), options_.search_paths);
      if (!request[2].empty()) at->ChooseRun(request[3]);
      at->ListSites(kMaxPageSites);
    }
    LiveJob& job = *at;
    const absl::Status found = job.Find();
    // The traces of processes that have ended are still there.
    const bool ended = !job.paths().empty() && IsProcessNumber(request[1]);
    if (!found.ok() && !ended) return {"trouble", std::string(found.message())};
    std::string signature = SignatureOf(job.paths());
    if (signature == request[4]) return {"same"};
    const LiveJob::Look look = job.ReadWhole();
    if (!look.report.ok()) return {"trouble", std::string(look.report.status().message())};
    std::vector<SourceExcerpt> source;
    if (options_.source) source = ReadSource(*look.report, WhenRecorded(job.paths()));
    return {"report", Flag(HasEnded(*look.report)), std::move(signature), RenderPageParts(*look.report, source)};
  }

  const ViewOptions& options_;
  std::map<std::pair<std::string, std::string>, std::unique_ptr<LiveJob>> jobs_;
};

}  // namespace

ViewedTraces::ViewedTraces(const ViewOptions& options)
    : options_(options), reader_([reader = std::make_shared<Reader>(options)](const WorkerProcess::Fields& request) {
        return reader->Answer(request);
      }) {}

absl::Status ViewedTraces::Open() {
  Progress progress("analyzing " + options_.target);
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
  const absl::StatusOr<WorkerProcess::Fields> listed = reader_.Ask({"list"});
  next_list_ = Clock::now() + std::max<Clock::duration>(kBetweenLists, kIdleShare * (Clock::now() - begin));
  // What was there stays.
  if (!listed.ok()) return listed.status();
  if ((*listed)[0] == "trouble") return absl::InvalidArgumentError((*listed)[1]);
  std::vector<ListedRun> runs;
  std::vector<size_t> pages;  // of whole runs
  size_t traces = 0;
  for (auto field = listed->begin() + 1; field != listed->end();) {
    const std::string& kind = *field++;
    const std::string& run_id = *field++;
    ListedRun run;
    run.started = static_cast<std::time_t>(std::stoull(*field++));
    for (size_t left = std::stoull(*field++); left > 0; --left, ++traces) {
      run.traces.push_back(ListTrace(*field, NumberOf(*field, std::nullopt)));
      ++field;
    }
    if (kind != "apart") {
      pages.push_back(NumberOf(options_.target, kind == "run" ? std::optional<std::string>(run_id) : std::nullopt));
      run.link = LinkTo(pages.back());
    }
    runs.push_back(std::move(run));
  }
  std::optional<size_t> only;
  if (pages.size() == 1) only = pages[0];
  if (traces == 1) only = 0;
  auto list = std::make_shared<const std::string>(RenderTraceList(options_.target, runs, kToolVersion));
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
    if (now >= view->next) Read(view);
  }
}

void ViewedTraces::Read(View* view) {
  LiveState state = view->state;  // only this thread changes it
  state.listed = listed_;
  const Clock::time_point begin = Clock::now();
  // A job that runs may write without a sign that it does.
  absl::StatusOr<WorkerProcess::Fields> answer =
      reader_.Ask({"read", view->path, Flag(view->run_id.has_value()), view->run_id.value_or(""),
                   state.ended && state.trouble.empty() ? view->signature : ""});
  const std::chrono::duration<double> least(options_.interval_s);
  view->next =
      Clock::now() + std::max(std::chrono::duration_cast<Clock::duration>(least), kIdleShare * (Clock::now() - begin));
  if (!answer.ok()) {
    state.trouble = std::string(answer.status().message());
  } else if ((*answer)[0] == "trouble") {
    state.trouble = (*answer)[1];
  } else if ((*answer)[0] == "report") {
    state.trouble.clear();
    state.ended = !(*answer)[1].empty();
    view->signature = std::move((*answer)[2]);
    if ((*answer)[3] != view->parts) {
      view->parts = std::move((*answer)[3]);
      ++state.version;
    }
  }
  Publish(view, std::move(state));
}

void ViewedTraces::Publish(View* view, LiveState state) {
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
