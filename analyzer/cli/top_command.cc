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
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/live_job.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/shared_options.h"
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

std::string TitleOf(const Report& report, const std::string& target) {
  uint64_t events = 0;
  double seconds = 0;
  for (const ReportProcess& process : report.processes) {
    events += process.events;
    seconds = std::max(seconds, process.duration_s);
  }
  std::string title = absl::StrCat("vramtrack top ", target, "  ", ClockTime(), "  ", StepsText(report.steps), "  ",
                                   FormatSeconds(seconds), "  ", FormatCount(events), " events");
  if (report.processes.size() > 1) absl::StrAppend(&title, "  ", report.processes.size(), " processes");
  return title;
}

struct TopArguments {
  LiveOptions live;
  bool once = false, json = false;
  size_t top = 20;
  ColorMode color = ColorMode::kAuto;
};

// The keys and what they change.
class Screen {
 public:
  // Both must outlive it.
  Screen(const TopArguments& given, LiveJob* job) : given_(given), job_(*job) {}

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
      next_ = Clock::now() +
              std::chrono::duration_cast<Clock::duration>(LiveJob::Pause(look.seconds, given_.live.interval_s));
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
    std::string footer = absl::StrCat("q quit  p pause  b mark  s by ", TopOrderName(view_.order),
                                      "  / search  d device  Enter stack  w page");
    if (paused_) absl::StrAppend(&footer, "  PAUSED");
    if (!view_.search.empty()) absl::StrAppend(&footer, "  search: ", view_.search);
    return footer;
  }

  void Draw(Terminal* terminal) {
    changed_ = false;
    columns_ = terminal->columns();
    rows_ = terminal->rows();
    TextStyle style = DetectStyle(STDOUT_FILENO, given_.color);
    style.columns = columns_;
    if (!report_) {
      terminal->Show({CutEnd("vramtrack top " + job_.target(), style.columns),
                      trouble_.empty() ? "reading ..." : CutEnd(Printable(trouble_), style.columns)});
      return;
    }
    terminal->Show(TopScreen(*report_, view_, TitleOf(*report_, job_.target()), Footer(), style, rows_));
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

  const TopArguments& given_;
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
int PrintLooks(const TopArguments& given, LiveJob* job) {
  OutputStream out;
  const TextStyle style = DetectStyle(STDOUT_FILENO, given.color);
  const char* between = "";
  return job->Follow(given.live.interval_s, given.json || given.once, [&](LiveJob::Look* look) -> std::optional<int> {
    const Report report = OrFail(std::move(look->report));
    std::string text = given.json ? RenderJsonLine(report) : std::exchange(between, "\n");
    if (!given.json) {
      for (const std::string& line :
           TopScreen(report, TopView(), TitleOf(report, job->target()), "", style, given.top + kHeaderRows)) {
        absl::StrAppend(&text, line, "\n");
      }
    }
    const bool ends = !out.Write(text) || given.once;
    const int code = out.Finish();
    return ends || code != kExitFine ? std::optional<int>(code) : std::nullopt;
  });
}

}  // namespace

int TopCommand(const Arguments& arguments) {
  TopArguments given;
  given.live.target = ".";
  CommandParser parser("top [OPTION...] [TRACE|PID]",
                       "Watch a job that runs: its devices, and each line with how fast it grows, how sure that is and "
                       "how much it holds. TRACE is a trace, or a folder of them (default: this folder); PID is a "
                       "process that is traced, or the launcher of such processes.");
  parser.OptionalPositional("TRACE|PID", &given.live.target);
  AddInterval(&parser, &given.live);
  parser.Flag("--once", &given.once, "print one look and end");
  parser.Flag("--json", &given.json, "print each look as a report in JSON, one per line");
  AddTop(&parser, &given.top, "the most rows where the output is not a terminal (default: 20)");
  AddAnalysis(&parser, &given.live);
  AddColor(&parser, &given.color);
  parser.Ending(
      "Keys: q quit, p pause, b mark (live bytes are then shown relative to this moment; again: no more), s order by "
      "rate, live bytes or bytes at the peak, / search, d next device, arrows and Enter the stack of a line, w write "
      "the HTML page of this moment.\n"
      "Exit code: 0 success, 2 bad input or usage.");
  if (const auto code = parser.Parse(arguments)) return *code;

  given.live.analysis.ReadCategories();
  LiveJob job(given.live.target, given.live.analysis.analyze);
  OrFail(job.Find());
  if (!given.once && !given.json && Terminal::IsUsable()) return Screen(given, &job).Run();
  return PrintLooks(given, &job);
}

}  // namespace vramtrack
