// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/viewed_traces.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/cli/holder_request.h"
#include "analyzer/cli/live_job.h"
#include "analyzer/cli/mapped_header.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/render/html/source_lines.h"
#include "analyzer/render/html/trace_list.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

constexpr std::chrono::seconds kStillAsked(10);  // after a page asked last
constexpr std::chrono::seconds kBetweenLists(2);
// Of one processor, whole reports take at most a twentieth, and so do looks between them.
constexpr int kIdleShare = 19;
constexpr std::chrono::seconds kLongWait(1);  // for the next whole report
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

// What the reading process does. The first field of a request and of an answer says what it is.
class Reader {
 public:
  explicit Reader(const ViewOptions& options) : options_(options) {}

  WorkerProcess::Fields Answer(const WorkerProcess::Fields& request) {
    try {
      if (request[0] == "list") return List();
      return request[0] == "look" ? Look(request, FindJob(request)) : Read(request, FindJob(request));
    } catch (const CommandFailure& failure) {
      return {"trouble", failure.line};
    }
  }

 private:
  using Fields = WorkerProcess::Fields;

  // {"list"} -> {"runs", then for each run: "run", its id, seconds since 1970, number of traces, their paths}. The run
  // "one" has no page; that of "all" is the page of the folder.
  Fields List() const {
    const bool of_process = IsProcessNumber(options_.live.target);
    const std::vector<std::string> listed =
        OrFail(of_process ? TracesOfProcess(options_.live.target) : ListTraces(options_.live.target));
    Fields answer = {"runs"};
    auto add = [&answer](const char* kind, const TraceRun& run) {
      answer.insert(answer.end(),
                    {kind, run.run_id, absl::StrCat(run.start_ns / kNanosPerSecond), absl::StrCat(run.paths.size())});
      answer.insert(answer.end(), run.paths.begin(), run.paths.end());
    };
    if (listed.size() == 1 || of_process || !IsTraceName(listed.front())) {
      // One trace, those of one job, or summaries, which are not sorted into runs.
      add(listed.size() == 1 ? "apart" : "all", {"", 0, listed, {}});
      return answer;
    }
    const TraceRuns sorted = SortIntoRuns(listed);
    for (const TraceRun& run : sorted.runs) {
      add("run", run);
      if (!run.earlier.empty()) add("apart", {"", 0, run.earlier, {}});
    }
    if (!sorted.unreadable.empty()) add("apart", {"", 0, sorted.unreadable, {}});
    return answer;
  }

  // Of {"read" or "look", path, run or not, run id, …}.
  LiveJob& FindJob(const Fields& request) {
    std::unique_ptr<LiveJob>& job = jobs_[std::make_pair(request[1], request[2] + request[3])];
    if (job == nullptr) {
      job = std::make_unique<LiveJob>(request[1], options_.live.analysis.analyze);
      if (!request[2].empty()) job->ChooseRun(request[3]);
      job->ListSites(kMaxPageSites);
    }
    const absl::Status found = job->Find();
    // The traces of processes that have ended are still there.
    if (job->paths().empty() || !IsProcessNumber(request[1])) OrFail(found);
    return *job;
  }

  // {"read", path, run or not, run id, signature or empty} ->
  // {"same"} or {"trouble", text} or {"report", ended, signature, answer, data}.
  Fields Read(const Fields& request, const LiveJob& job) {
    std::string signature = SignatureOf(job.paths());
    if (signature == request[4]) return {"same"};
    const Report report = OrFail(job.ReadWhole().report);
    std::vector<SourceExcerpt> source;
    if (options_.source) source = ReadSource(report, job.paths());
    return {"report", Flag(HasEnded(report)), std::move(signature), RenderPageAnswer(report),
            RenderPageData(report, source)};
  }

  // {"look", path, run or not, run id, read or not} ->
  // {"ended", signature} or {"trouble", text} or {"answer", answer} or {"runs"}.
  static Fields Look(const Fields& request, LiveJob& job) {
    if (AreFinished(job.paths())) return {"ended", SignatureOf(job.paths())};
    if (request[4].empty()) return {"runs"};
    return {"answer", RenderPageAnswer(OrFail(job.Read().report))};
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
  view->brief = std::make_shared<const std::string>(RenderUpdate(LiveState(), "", ""));
  const std::lock_guard<std::mutex> lock(mutex_);
  views_.push_back(std::move(view));
  return at->second;
}

absl::Status ViewedTraces::FindAgain() {
  const Clock::time_point begin = Clock::now();
  const absl::StatusOr<WorkerProcess::Fields> listed = Ask({"list"});
  next_list_ = Clock::now() + std::max<Clock::duration>(kBetweenLists, kIdleShare * (Clock::now() - begin));
  // What was there stays.
  if (!listed.ok()) return listed.status();
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
      pages.push_back(
          NumberOf(options_.live.target, kind == "run" ? std::optional<std::string>(run_id) : std::nullopt));
      run.link = LinkTo(pages.back());
    }
    runs.push_back(std::move(run));
  }
  std::optional<size_t> only;
  if (pages.size() == 1) only = pages[0];
  if (traces == 1) only = 0;
  auto list = std::make_shared<const std::string>(RenderTraceList(options_.live.target, runs, kToolVersion));
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
    if (now >= view->next_report) {
      Read(view);
    } else if (now >= view->next_check && !view->state.ended) {
      Look(view);
    }
  }
}

ViewedTraces::Clock::time_point ViewedTraces::NextAfter(Clock::time_point begin) const {
  const std::chrono::duration<double> least(options_.live.interval_s);
  return Clock::now() +
         std::max(std::chrono::duration_cast<Clock::duration>(least), kIdleShare * (Clock::now() - begin));
}

absl::StatusOr<WorkerProcess::Fields> ViewedTraces::Ask(const WorkerProcess::Fields& request) {
  absl::StatusOr<WorkerProcess::Fields> answer = reader_.Ask(request);
  if (answer.ok() && (*answer)[0] == "trouble") return absl::InvalidArgumentError((*answer)[1]);
  return answer;
}

absl::StatusOr<WorkerProcess::Fields> ViewedTraces::Ask(const char* what, const View& view, std::string last) {
  return Ask({what, view.path, Flag(view.run_id.has_value()), view.run_id.value_or(""), std::move(last)});
}

void ViewedTraces::Read(View* view) {
  LiveState state = view->state;  // only this thread changes it
  state.listed = listed_;
  const Clock::time_point begin = Clock::now();
  // A job that runs may write without a sign that it does.
  absl::StatusOr<WorkerProcess::Fields> answer =
      Ask("read", *view, state.ended && state.trouble.empty() ? view->signature : "");
  view->next_report = NextAfter(begin);
  view->next_check = NextAfter(Clock::now());
  bool has_new_data = false;
  if (!answer.ok()) {
    state.trouble = std::string(answer.status().message());
  } else if ((*answer)[0] == "report") {
    state.trouble.clear();
    state.ended = !(*answer)[1].empty();
    view->signature = std::move((*answer)[2]);
    has_new_data = (*answer)[4] != view->data;
    if (has_new_data || (*answer)[3] != view->answer) ++state.version;
    view->answer = std::move((*answer)[3]);
    view->data = std::move((*answer)[4]);
  }
  Publish(view, std::move(state), has_new_data);
}

void ViewedTraces::Look(View* view) {
  LiveState state = view->state;
  const Clock::time_point begin = Clock::now();
  // Where the next report comes soon, it needs no look before it. The first look reads as much as a report; the
  // earlier, the less that is.
  const bool first = view->next_look == Clock::time_point::min();
  const bool reads = first || (begin >= view->next_look && view->next_report - begin > kLongWait);
  const absl::StatusOr<WorkerProcess::Fields> answer = Ask("look", *view, Flag(reads));
  if (reads) view->next_look = NextAfter(begin);
  view->next_check = NextAfter(Clock::now());
  // The next report says what is wrong.
  if (!answer.ok()) return;
  if ((*answer)[0] == "ended") {
    if ((*answer)[1] != view->signature) view->next_report = Clock::time_point::min();
    return;
  }
  if ((*answer)[0] == "runs" || (*answer)[1] == view->answer) return;
  ++state.version;
  view->answer = (*answer)[1];
  Publish(view, std::move(state), /*has_new_data=*/false);
}

void ViewedTraces::Publish(View* view, LiveState state, bool has_new_data) {
  auto brief = std::make_shared<const std::string>(RenderUpdate(state, "", ""));
  if (view->brief && *brief == *view->brief) return;
  Text whole, newer_answer;
  if (state.version > 0) {
    whole = std::make_shared<const std::string>(RenderUpdate(state, view->answer, view->data));
    newer_answer = std::make_shared<const std::string>(RenderUpdate(state, view->answer, ""));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (has_new_data) view->data_version = state.version;
  view->state = std::move(state);
  view->brief = std::move(brief);
  view->whole = std::move(whole);
  view->newer_answer = std::move(newer_answer);
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
  if (have == view.state.version || !view.whole) return view.brief;
  return have >= view.data_version && have < view.state.version ? view.newer_answer : view.whole;
}

ViewedTraces::Text ViewedTraces::List() {
  const std::lock_guard<std::mutex> lock(mutex_);
  list_asked_ = Clock::now();
  return list_;
}

}  // namespace vramtrack
