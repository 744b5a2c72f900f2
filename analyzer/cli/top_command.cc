// SPDX-License-Identifier: Apache-2.0
//
// `vramtrack top`: a report on a job that still runs, again and again.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/live_job.h"
#include "analyzer/cli/option_values.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/render/html/html.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/top_text.h"

namespace vramtrack {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kHeaderRows = 8;  // where there is no screen to fit
constexpr int kKeyMilliseconds = 50;

std::string ClockTime() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  char text[16];
  return localtime_r(&now, &local) != nullptr && std::strftime(text, sizeof(text), "%H:%M:%S", &local) > 0 ? text : "";
}

std::string StepsText(const ReportSteps& steps) {
  if (steps.unit == StepUnit::kNone) return "no steps found yet";
  const std::string unit = NameOf(steps.unit);
  return Plural(steps.count, unit, unit + "s");
}

std::string TitleOf(const Report& report, const TopOptions& options) {
  uint64_t events = 0;
  double seconds = 0;
  for (const ReportProcess& process : report.processes) {
    events += process.events;
    seconds = std::max(seconds, process.duration_s);
  }
  std::string title = absl::StrCat("vramtrack top ", options.target, "  ", ClockTime(), "  ", StepsText(report.steps),
                                   "  ", FormatSeconds(seconds), "  ", FormatCount(events), " events");
  if (report.processes.size() > 1) absl::StrAppend(&title, "  ", report.processes.size(), " processes");
  return title;
}

// The keys and what they change.
class Screen {
 public:
  // Both must outlive it.
  Screen(const TopOptions& options, LiveJob* job) : options_(options), job_(*job) {}

  int Run() {
    Terminal terminal;
    while (!done_) {
      TakeLook();
      TakePage();
      if (changed_ || columns_ != terminal.columns() || rows_ != terminal.rows()) Draw(&terminal);
      OnKey(terminal.WaitForKey(kKeyMilliseconds), terminal.rows());
    }
    // A look that is under way uses what is destroyed next.
    if (looking_.valid()) looking_.wait();
    if (page_.valid()) page_.wait();
    return kExitFine;
  }

 private:
  void TakeLook() {
    if (looking_.valid()) {
      if (looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
      changed_ = true;
      LiveJob::Look look = looking_.get();
      const std::chrono::duration<double> pause(LiveJob::Pause(look, options_.interval_s));
      next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
      if (look.report.ok()) {
        report_ = *std::move(look.report);
        trouble_.clear();
      } else {
        trouble_ = std::string(look.report.status().message());
      }
      return;
    }
    if (paused_ || page_.valid() || Clock::now() < next_) return;
    job_.Find().IgnoreError();
    looking_ = std::async(std::launch::async, [this] { return job_.Read(); });
  }

  std::string Footer() const {
    if (searching_) return absl::StrCat("search: ", view_.search, "_  (Enter: keep, Escape: show all lines)");
    if (!message_.empty()) return message_;
    if (!trouble_.empty()) return trouble_;
    std::string footer = "q quit  p pause  b mark  s order  / search  d device  Enter stack  w page";
    if (paused_) absl::StrAppend(&footer, "  PAUSED");
    absl::StrAppend(&footer, "  by ", TopOrderName(view_.order));
    if (!view_.search.empty()) absl::StrAppend(&footer, "  search: ", view_.search);
    return footer;
  }

  void Draw(Terminal* terminal) {
    changed_ = false;
    columns_ = terminal->columns();
    rows_ = terminal->rows();
    TextStyle style = DetectStyle(STDOUT_FILENO, options_.color);
    style.columns = columns_;
    if (!report_) {
      terminal->Show({CutEnd("vramtrack top " + options_.target, style.columns),
                      trouble_.empty() ? "reading ..." : CutEnd(Printable(trouble_), style.columns)});
      return;
    }
    terminal->Show(TopScreen(*report_, view_, TitleOf(*report_, options_), Footer(), style, rows_));
  }

  void OnKey(int key, size_t rows) {
    if (key == Terminal::kNone) return;
    changed_ = true;
    if (key == Terminal::kClosed) done_ = true;
    message_.clear();
    if (searching_) return OnSearchKey(key);
    switch (key) {
      case 'q':
        done_ = true;
        break;
      case 'p':
        paused_ = !paused_;
        break;
      case 'b':
        view_.baseline = view_.baseline || !report_ ? std::nullopt : std::optional<TopBaseline>(BaselineOf(*report_));
        break;
      case 's':
        view_.order = view_.order == kLastTopOrder ? TopOrder::kRate
                                                   : static_cast<TopOrder>(static_cast<uint8_t>(view_.order) + 1);
        break;
      case '/':
        searching_ = true;
        view_.search.clear();
        break;
      case 'd':
        NextDevice();
        break;
      case 'w':
        WritePage();
        break;
      case Terminal::kEnter:
        view_.shows_stack = !view_.shows_stack;
        break;
      case Terminal::kEscape:
        view_.shows_stack = false;
        view_.search.clear();
        break;
      case Terminal::kUp:
        Move(-1);
        break;
      case Terminal::kDown:
        Move(1);
        break;
      case Terminal::kPageUp:
        Move(-static_cast<int64_t>(rows / 2));
        break;
      case Terminal::kPageDown:
        Move(static_cast<int64_t>(rows / 2));
        break;
      default:
        break;
    }
  }

  void OnSearchKey(int key) {
    if (key == Terminal::kEnter || key == Terminal::kEscape) {
      searching_ = false;
      if (key == Terminal::kEscape) view_.search.clear();
    } else if (key == Terminal::kBackspace) {
      if (!view_.search.empty()) view_.search.pop_back();
    } else if (key >= ' ' && key < 256) {
      view_.search.push_back(static_cast<char>(key));
    }
  }

  void Move(int64_t by) {
    if (!report_) return;
    const std::vector<TopRow> rows = TopRows(*report_, view_);
    if (rows.empty()) return;
    const int64_t at = static_cast<int64_t>(SelectedIn(rows, view_)) + by;
    view_.selected = rows[static_cast<size_t>(std::clamp<int64_t>(at, 0, static_cast<int64_t>(rows.size()) - 1))].place;
  }

  // One device after the other, then all of them.
  void NextDevice() {
    if (!report_ || report_->devices.empty()) return;
    const std::vector<ReportDevice>& devices = report_->devices;
    const auto shown = std::find_if(devices.begin(), devices.end(),
                                    [this](const ReportDevice& device) { return view_.device == device.index; });
    const auto next = view_.device && shown != devices.end() ? std::next(shown) : devices.begin();
    view_.device = next == devices.end() ? std::nullopt : std::optional<uint32_t>(next->index);
  }

  // The page needs the whole report, which takes longer than a look.
  void WritePage() {
    if (page_.valid()) return;
    const std::string name = absl::StrCat("vramtrack-", ClockTime(), ".html");
    message_ = absl::StrCat("writing ", name, " ...");
    page_ = std::async(std::launch::async, [this, name]() -> std::string {
      const LiveJob::Look whole = job_.ReadWhole();
      if (!whole.report.ok()) return std::string(whole.report.status().message());
      return WriteOutput(name, RenderHtml(*whole.report)) == kExitFine ? absl::StrCat("wrote ", name)
                                                                       : absl::StrCat("cannot write ", name);
    });
  }

  void TakePage() {
    if (!page_.valid() || page_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    message_ = page_.get();
    changed_ = true;
  }

  const TopOptions& options_;
  LiveJob& job_;
  TopView view_;
  std::optional<Report> report_;
  std::string trouble_, message_;
  std::future<LiveJob::Look> looking_;
  std::future<std::string> page_;  // what there is to say of it; no look is taken meanwhile
  Clock::time_point next_ = Clock::now();
  bool paused_ = false, searching_ = false, done_ = false;
  bool changed_ = true;  // since it was drawn, at this size:
  int columns_ = 0;
  size_t rows_ = 0;
};

// Without a screen: one look after the other on standard output, until its reader has gone.
int PrintLooks(const TopOptions& options, LiveJob* job) {
  StandardOutput out;
  const TextStyle style = DetectStyle(STDOUT_FILENO, options.color);
  for (bool first = true;; first = false) {
    const LiveJob::Look look = options.json || options.once ? job->ReadWhole() : job->Read();
    if (!look.report.ok()) return BadInput(std::string(look.report.status().message()));
    std::string text;
    if (options.json) {
      text = RenderJsonLine(*look.report);
    } else {
      if (!first) text = "\n";
      for (const std::string& line :
           TopScreen(*look.report, TopView(), TitleOf(*look.report, options), "", style, options.top + kHeaderRows)) {
        absl::StrAppend(&text, line, "\n");
      }
    }
    if (!out.Write(text)) break;
    if (options.once) break;
    if (const int code = out.Finish(); code != kExitFine) return code;
    std::this_thread::sleep_for(std::chrono::duration<double>(LiveJob::Pause(look, options.interval_s)));
    job->Find().IgnoreError();
  }
  return out.Finish();
}

}  // namespace

int RunTop(const TopOptions& options) {
  absl::StatusOr<CategoryRules> categories = ReadCategories(options.categories);
  if (!categories.ok()) return BadInput(std::string(categories.status().message()));
  LiveJob job(options.target, options.step_marks, *std::move(categories), options.search_paths);
  if (const absl::Status found = job.Find(); !found.ok()) return BadInput(std::string(found.message()));
  if (!options.once && !options.json && Terminal::IsUsable()) return Screen(options, &job).Run();
  return PrintLooks(options, &job);
}

}  // namespace vramtrack
