// SPDX-License-Identifier: Apache-2.0
//
// `vramtrack watch`: runs a command when a job that runs begins to leak, or when a device will soon be full.
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/holder_request.h"
#include "analyzer/cli/live_job.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/shared_options.h"
#include "analyzer/model/whole_leak.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/openmetrics/job_metrics.h"
#include "analyzer/serve/http_server.h"

namespace vramtrack {
namespace {

// The command for a device runs again only after the device had this many times --seconds-to-full left.
constexpr double kOutOfDanger = 2;

constexpr double kListenIntervalSeconds = 1;

struct WatchArguments {
  LiveOptions live;
  std::string on_leak, on_full;  // commands for the shell; empty: none
  double seconds_to_full = 3600;
  std::string listen;  // serve metrics at this address; empty: none
  bool once = false, waits = false;
};

// Runs the command by the shell with `input` on its standard input, and waits for it.
void RunByShell(const std::string& command, const std::string& input) {
  // It starts with the signal's default, which a shell could not give itself.
  signal(SIGPIPE, SIG_DFL);
  FILE* const pipe = popen(command.c_str(), "w");
  signal(SIGPIPE, SIG_IGN);
  if (pipe == nullptr) return Say(absl::StrCat("cannot run ", command, ": ", std::strerror(errno)));
  // A command need not read what it is given.
  std::fwrite(input.data(), 1, input.size(), pipe);
  const int status = pclose(pipe);
  if (status == 0) return;
  Say(WIFEXITED(status) ? absl::StrCat(command, ": exit code ", WEXITSTATUS(status))
                        : absl::StrCat(command, ": ended by signal ", WTERMSIG(status)));
}

double UnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

class Watch {
 public:
  explicit Watch(const WatchArguments& given) : given_(given) {}

  // Runs the commands for what is new since the last report, which a look at `job` gave. Returns how many seconds it
  // read for that.
  double Tell(const LiveJob& job, const Report& report) {
    read_s_ = 0;
    if (!given_.on_leak.empty()) TellOfLeaks(job, report);
    if (!given_.on_full.empty()) {
      for (const ReportDevice& device : report.devices) TellOfDevice(job, report, device);
    }
    return read_s_;
  }

 private:
  static bool IsWorthAlarm(const ReportSite& site) { return IsLeak(site) && site.verdict != Verdict::kMinorLeak; }

  LiveJob::Look ReadWhole(const LiveJob& job) {
    LiveJob::Look whole = job.ReadWhole();
    read_s_ += whole.seconds;
    return whole;
  }

  // Of one leak a second alarm would be noise: a leak is new if none of its sites was in an alarm. Those of later looks
  // have more sites, or are led by another one.
  bool IsNew(const Report& report, const std::vector<size_t>& members) const {
    return std::none_of(members.begin(), members.end(),
                        [&](size_t member) { return alarmed_.count(report.sites[member].id) != 0; });
  }

  // A look leaves out what needs another replay. That is made where a command gets the whole record.
  void TellOfLeaks(const LiveJob& job, const Report& report) {
    const auto leaks = LeakMembers(report.sites);
    const bool any = std::any_of(leaks.begin(), leaks.end(), [&](const auto& leak) {
      return IsWorthAlarm(report.sites[leak.first]) && IsNew(report, leak.second);
    });
    if (!any) return;
    const LiveJob::Look whole = ReadWhole(job);
    if (!whole.report.ok()) return;
    const std::vector<ReportSite>& sites = whole.report->sites;
    for (const auto& [leader, members] : LeakMembers(sites)) {
      if (!IsWorthAlarm(sites[leader])) continue;
      if (IsNew(*whole.report, members)) {
        RunByShell(given_.on_leak, RenderLeakEvent(given_.live.target, *whole.report, sites[leader]));
      }
      for (const size_t member : members) alarmed_.insert(sites[member].id);
    }
  }

  void TellOfDevice(const LiveJob& job, const Report& report, const ReportDevice& device) {
    if (!device.growth || !device.growth->seconds_to_oom) return;
    const double seconds = *device.growth->seconds_to_oom;
    const auto key = std::make_pair(device.pid, device.index);
    if (seconds > kOutOfDanger * given_.seconds_to_full) full_.erase(key);
    if (seconds > given_.seconds_to_full || !full_.insert(key).second) return;
    const LiveJob::Look whole = ReadWhole(job);
    std::string event = RenderFullEvent(given_.live.target, report, device);
    if (whole.report.ok()) {
      for (const ReportDevice& one : whole.report->devices) {
        if (one.pid != device.pid || one.index != device.index) continue;
        event = RenderFullEvent(given_.live.target, *whole.report, one);
      }
    }
    RunByShell(given_.on_full, event);
  }

  const WatchArguments& given_;
  double read_s_ = 0;
  std::set<std::string> alarmed_;                 // ids of sites
  std::set<std::pair<uint32_t, uint32_t>> full_;  // process and device
};

// Serves the metrics of a job at /metrics: those of the last look, so that a scrape costs nothing. Thread-compatible.
class MetricsServer {
 public:
  // Throws CommandFailure.
  explicit MetricsServer(const ListenAddress& address)
      : server_(OrFail(HttpServer::Start(address, [this](const HttpRequest& request) { return Answer(request); }))) {}

  uint16_t port() const { return server_->port(); }

  // Takes the figures of a look that has just ended.
  void Show(const LiveJob& job, const LiveJob::Look& look) {
    ++state_.looks;
    if (look.report.ok()) {
      state_.look_time_s = UnixSeconds() - look.seconds;  // when it began
      state_.look_duration_s = look.seconds;
      const absl::StatusOr<std::vector<TracingProcess>> recording = FindTracingProcesses(job.target());
      state_.recording = recording.ok() ? recording->size() : 0;
      last_ = *look.report;
    } else {
      ++state_.failed_looks;
    }
    auto shared = std::make_shared<const std::string>(RenderJobMetrics(state_, last_ ? &*last_ : nullptr));
    const std::lock_guard<std::mutex> lock(mutex_);
    text_ = std::move(shared);
  }

 private:
  HttpResponse Answer(const HttpRequest& request) {
    if (request.path != "/metrics") {
      return {request.path == "/" ? 200U : 404U, "text/plain; charset=utf-8",
              std::make_shared<const std::string>("The metrics are at /metrics.\n")};
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    return {200, kOpenMetricsType, text_};
  }

  WatchState state_;
  std::optional<Report> last_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<const std::string> text_ = std::make_shared<const std::string>(RenderJobMetrics(state_, nullptr));
  const std::unique_ptr<HttpServer> server_;  // destroyed first
};

}  // namespace

int WatchCommand(const Arguments& arguments) {
  WatchArguments given;
  given.live.interval_s = 10;
  CommandParser parser("watch [OPTION...] TRACE|PID",
                       "Run a command once for each new leak of a job that runs, or when a device will soon be full; "
                       "serve its figures to Prometheus. The command gets JSON on its standard input. TRACE is a "
                       "trace, or a folder of them; PID is a process that is traced, or the launcher of such "
                       "processes.");
  parser.Positional("TRACE|PID", &given.live.target);
  parser.Option("--on-leak", "COMMAND", &given.on_leak, "run this by the shell when a line is found to leak");
  parser.Option("--on-full", "COMMAND", &given.on_full,
                "run this by the shell when a device will be full in less than --seconds-to-full");
  parser.Option("--seconds-to-full", "SECONDS", &given.seconds_to_full, "for --on-full (default: 3600)")
      ->check(Number(1.0, 1e9));
  parser
      .Option("--listen", "[HOST]:PORT", &given.listen,
              "serve the figures of the last look as OpenMetrics at http://HOST:PORT/metrics (default HOST: all "
              "interfaces)")
      ->check([](const std::string& text) { return std::string(ParseListenAddress(text).status().message()); });
  const CLI::Option* const interval =
      AddInterval(&parser, &given.live, absl::StrCat(", with --listen ", kListenIntervalSeconds));
  parser.Flag("--once", &given.once, "look once and end");
  parser.Flag("--wait", &given.waits, "wait for the first trace if there is none yet");
  AddAnalysis(&parser, &given.live);
  parser.Ending("Exit code: 0 with --once, 2 bad input or usage.");
  if (const auto code = parser.Parse(arguments)) return *code;
  if (given.on_leak.empty() && given.on_full.empty() && given.listen.empty()) {
    return parser.Wrong("nothing to do (expected --on-leak, --on-full or --listen)");
  }
  if (!given.listen.empty() && interval->count() == 0) given.live.interval_s = kListenIntervalSeconds;

  signal(SIGPIPE, SIG_IGN);
  given.live.analysis.ReadCategories();
  LiveJob job(given.live.target, given.live.analysis.analyze);
  absl::Status found = job.Find();
  if (given.once || !given.waits) OrFail(found);
  std::optional<MetricsServer> metrics;
  if (!given.listen.empty()) {
    metrics.emplace(*ParseListenAddress(given.listen));
    Say(absl::StrCat("metrics at port ", metrics->port(), ", path /metrics"));
  }
  while (!found.ok()) {
    std::this_thread::sleep_for(std::chrono::duration<double>(given.live.interval_s));
    found = job.Find();
  }
  Watch watch(given);
  std::string trouble;
  return job.Follow(given.live.interval_s, given.once, [&](LiveJob::Look* look) -> std::optional<int> {
    if (metrics) metrics->Show(job, *look);
    if (look->report.ok()) {
      look->seconds += watch.Tell(job, *look->report);
      trouble.clear();
    } else if (given.once) {
      OrFail(look->report.status());
    } else if (trouble != look->report.status().message()) {
      trouble = std::string(look->report.status().message());
      Say(trouble);
    }
    return given.once ? std::optional<int>(kExitFine) : std::nullopt;
  });
}

}  // namespace vramtrack
