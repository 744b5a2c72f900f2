// SPDX-License-Identifier: Apache-2.0
//
// `vramtrack top`: a report on a job that still runs, again and again.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/holder_request.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/terminal.h"
#include "analyzer/ingest/trace_choice.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/html/html.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/page.h"
#include "analyzer/render/text/top_text.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostSites = 200;
constexpr size_t kHeaderRows = 8;  // where there is no screen to fit
constexpr int kKeyMilliseconds = 50;
// Reading takes at most this share of one processor: a job's own work comes first.
constexpr double kShareOfProcessor = 0.1;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

bool IsNumber(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct Look {
  absl::StatusOr<Report> report = absl::UnknownError("");
  double seconds = 0;
};

// What is at the target now: the processes of a job come one by one.
absl::StatusOr<std::vector<std::string>> TracesOf(const TopOptions& options) {
  if (IsNumber(options.target)) {
    absl::StatusOr<std::vector<TracingProcess>> processes = FindTracingProcesses(options.target);
    if (!processes.ok()) return processes.status();
    std::vector<std::string> paths;
    for (const TracingProcess& process : *processes) paths.push_back(process.trace);
    return paths;
  }
  absl::StatusOr<TraceChoice> choice = ChooseTraces(options.target, /*all_runs=*/false);
  if (!choice.ok()) return choice.status();
  return std::move(choice->paths);
}

// `modules`: what earlier looks read from the program's files.
Look LookAt(const std::vector<std::string>& paths, const TopOptions& options,
            const std::shared_ptr<ModuleStore>& modules) {
  const Clock::time_point start = Clock::now();
  AnalyzeOptions analyze;
  analyze.top = kMostSites;
  analyze.threads = 1;
  analyze.step_marks = options.step_marks;
  analyze.symbols.search.search_paths = options.search_paths;
  analyze.symbols.modules = modules;
  Look look;
  look.report = Analyze(paths, analyze);
  look.seconds = SecondsSince(start);
  return look;
}

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
  Screen(const TopOptions& options, std::vector<std::string> paths) : options_(options), paths_(std::move(paths)) {}

  int Run() {
    Terminal terminal;
    while (!done_) {
      TakeLook();
      Draw(&terminal);
      OnKey(terminal.WaitForKey(kKeyMilliseconds), terminal.rows());
    }
    // A look that is under way uses what is destroyed next.
    if (looking_.valid()) looking_.wait();
    return kExitFine;
  }

 private:
  void TakeLook() {
    if (looking_.valid()) {
      if (looking_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
      Look look = looking_.get();
      next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                                 std::max(options_.interval_s, look.seconds / kShareOfProcessor)));
      if (look.report.ok()) {
        report_ = *std::move(look.report);
        trouble_.clear();
      } else {
        trouble_ = std::string(look.report.status().message());
      }
      return;
    }
    if (paused_ || Clock::now() < next_) return;
    // A process that has ended is no process any more, but its trace stays.
    if (absl::StatusOr<std::vector<std::string>> paths = TracesOf(options_); paths.ok()) paths_ = *std::move(paths);
    looking_ = std::async(std::launch::async, [paths = paths_, this] { return LookAt(paths, options_, modules_); });
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

  void Draw(Terminal* terminal) const {
    TextStyle style = DetectStyle(STDOUT_FILENO, options_.color);
    style.columns = terminal->columns();
    if (!report_) {
      terminal->Show({CutEnd("vramtrack top " + options_.target, style.columns),
                      trouble_.empty() ? "reading ..." : CutEnd(Printable(trouble_), style.columns)});
      return;
    }
    terminal->Show(TopScreen(*report_, view_, TitleOf(*report_, options_), Footer(), style, terminal->rows()));
  }

  void OnKey(int key, size_t rows) {
    if (key == Terminal::kNone) return;
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

  void WritePage() {
    if (!report_) return;
    const std::string name = absl::StrCat("vramtrack-", ClockTime(), ".html");
    message_ = WriteOutput(name, RenderHtml(*report_)) == kExitFine ? absl::StrCat("wrote ", name)
                                                                    : absl::StrCat("cannot write ", name);
  }

  const TopOptions& options_;
  std::vector<std::string> paths_;
  const std::shared_ptr<ModuleStore> modules_ = std::make_shared<ModuleStore>();
  TopView view_;
  std::optional<Report> report_;
  std::string trouble_, message_;
  std::future<Look> looking_;
  Clock::time_point next_ = Clock::now();
  bool paused_ = false, searching_ = false, done_ = false;
};

// Without a screen: one look after the other on standard output, until its reader has gone.
int PrintLooks(std::vector<std::string> paths, const TopOptions& options) {
  StandardOutput out;
  const TextStyle style = DetectStyle(STDOUT_FILENO, options.color);
  const auto modules = std::make_shared<ModuleStore>();
  for (bool first = true;; first = false) {
    const Look look = LookAt(paths, options, modules);
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
    const double wait = std::max(options.interval_s, look.seconds / kShareOfProcessor);
    usleep(static_cast<useconds_t>(wait * 1e6));
    if (absl::StatusOr<std::vector<std::string>> found = TracesOf(options); found.ok()) paths = *std::move(found);
  }
  return out.Finish();
}

}  // namespace

int RunTop(const TopOptions& options) {
  absl::StatusOr<std::vector<std::string>> paths = TracesOf(options);
  if (!paths.ok()) return BadInput(std::string(paths.status().message()));
  if (!options.once && !options.json && Terminal::IsUsable()) return Screen(options, *std::move(paths)).Run();
  return PrintLooks(*std::move(paths), options);
}

}  // namespace vramtrack
