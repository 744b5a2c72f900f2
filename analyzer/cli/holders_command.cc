// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/cli/command_parser.h"
#include "analyzer/cli/commands.h"
#include "analyzer/cli/holder_request.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"

namespace vramtrack {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks(20);
constexpr uint64_t kMostTimeoutSeconds = 1000000;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Waits until no request is open. Returns the seconds that each took.
std::vector<double> WaitForAll(std::vector<HolderRequest>* requests, uint64_t timeout_s) {
  const Clock::time_point start = Clock::now();
  std::vector<double> seconds(requests->size());
  const std::string whom = requests->size() == 1 ? absl::StrCat("process ", (*requests)[0].process().pid)
                                                 : absl::StrCat(requests->size(), " processes");
  Progress progress(absl::StrCat("waiting for ", whom));
  while (true) {
    bool waiting = false;
    for (size_t i = 0; i < requests->size(); ++i) {
      if ((*requests)[i].Poll() != HolderRequest::State::kWaiting) continue;
      waiting = true;
      seconds[i] = SecondsSince(start);
    }
    if (!waiting || SecondsSince(start) >= static_cast<double>(timeout_s)) return seconds;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace

int HoldersCommand(const Arguments& arguments) {
  std::string target;
  uint64_t timeout_s = 30;
  CommandParser parser("holders [OPTION...] PID|TRACE",
                       "Ask a running process which of its Python objects hold its memory, and wait for the answer. It "
                       "is added to the process's trace. The process must have been started with run --holders, or "
                       "joined with attach --holders. For a folder of traces, all processes that still write one are "
                       "asked; for a launcher, all that it has started.");
  parser.Positional("PID|TRACE", &target);
  parser.Option("--timeout", "SECONDS", &timeout_s, "how long to wait for the answer (default: 30)")
      ->check(WholeNumber(1, kMostTimeoutSeconds));
  parser.Ending("Exit code: 0 answered, 2 bad input or usage, 3 no answer in time.");
  if (const auto code = parser.Parse(arguments)) return *code;

  std::vector<HolderRequest> requests;
  for (const TracingProcess& process : OrFail(FindTracingProcesses(target))) {
    requests.push_back(OrFail(HolderRequest::Open(process)));
  }
  for (HolderRequest& request : requests) request.Send();
  const std::vector<double> seconds = WaitForAll(&requests, timeout_s);
  OutputStream out;
  int code = kExitFine;
  for (size_t i = 0; i < requests.size(); ++i) {
    const TracingProcess& process = requests[i].process();
    const std::string name = absl::StrCat("process ", process.pid);
    switch (requests[i].Poll()) {
      case HolderRequest::State::kAnswered:
        out.Write(absl::StrCat(name, ": walk ", requests[i].walks(), " was written after ", FormatSeconds(seconds[i]),
                               "; to see it: vramtrack report ", Printable(process.trace), "\n"));
        continue;
      case HolderRequest::State::kWaiting:
        Say(absl::StrCat(name, ": no answer within ", timeout_s,
                         " s (the walk happens when the main thread next runs Python code after the next CUDA "
                         "allocation; a program without Python has none)"));
        break;
      case HolderRequest::State::kEnded:
        Say(name + ": ended before it answered");
        break;
      case HolderRequest::State::kStopped:
        Say(absl::StrCat(name, ": recording stopped before it answered (vramtrack info ", process.trace,
                         " shows why)"));
        break;
      case HolderRequest::State::kRefused:
        Say(absl::StrCat(name, ": ", CannotBeWalked(process)));
        break;
    }
    code = kExitNotEnoughEvidence;
  }
  const int written = out.Finish();
  return written != kExitFine ? written : code;
}

}  // namespace vramtrack
