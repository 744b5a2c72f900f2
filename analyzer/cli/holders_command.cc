// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/commands.h"

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
#include "analyzer/cli/holder_request.h"
#include "analyzer/cli/output.h"
#include "analyzer/cli/progress.h"

namespace vramtrack {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks(20);

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

int RunHolders(const HoldersOptions& options) {
  const absl::StatusOr<std::vector<TracingProcess>> processes = FindTracingProcesses(options.target);
  if (!processes.ok()) return BadInput(std::string(processes.status().message()));
  std::vector<HolderRequest> requests;
  for (const TracingProcess& process : *processes) {
    absl::StatusOr<HolderRequest> request = HolderRequest::Open(process);
    if (!request.ok()) return BadInput(std::string(request.status().message()));
    requests.push_back(*std::move(request));
  }
  for (HolderRequest& request : requests) request.Send();
  const std::vector<double> seconds = WaitForAll(&requests, options.timeout_s);
  StandardOutput out;
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
        Say(absl::StrCat(name, ": no answer within ", options.timeout_s,
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
