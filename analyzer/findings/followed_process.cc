// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/followed_process.h"

#include <algorithm>

#include "analyzer/findings/find_in_process.h"

namespace vramtrack {
namespace {

bool CanGoOn(const Trace& trace) {
  return !trace.finished() && !trace.bounded() && trace.activities().empty() && trace.holder_walks().empty();
}

// Leaves out what other threads may still have to write.
void LeaveOutNewest(Trace* trace) {
  if (!trace->running() || !CanGoOn(*trace)) return;
  const auto margin = static_cast<uint64_t>(FollowedProcess::kMarginSeconds * trace->clock().ticks_per_second());
  const uint64_t newest = trace->NewestTicks();
  trace->LeaveOutAfter(newest - std::min(newest, margin));
}

}  // namespace

void FollowedProcess::Forget() {
  replays_ = {};
  trace_.reset();
}

absl::StatusOr<ProcessFindings> FollowedProcess::Look(const AnalyzeOptions& options) {
  absl::StatusOr<std::unique_ptr<Trace>> opened = Trace::Open(path_);
  if (!opened.ok()) return opened.status();
  LeaveOutNewest(opened->get());
  return LookAt(*std::move(opened), options);
}

ProcessFindings FollowedProcess::LookAt(std::unique_ptr<Trace> newer, const AnalyzeOptions& options) {
  replayed_ = 0;
  if (ended_ && newer->finished() && newer->file_bytes() == ended_bytes_) return *ended_;
  if (!CanGoOn(*newer)) {
    Forget();
    replayed_ = newer->events();
    ProcessFindings findings = FindInProcess(*newer, options);
    if (newer->finished()) {
      ended_ = findings;
      ended_bytes_ = newer->file_bytes();
    }
    return findings;
  }
  if (trace_ == nullptr || !trace_->Continue(&newer)) {
    Forget();
    trace_ = std::move(newer);
  }
  AnalyzeOptions follow = options;
  follow.follow = true;
  ProcessAnalysis analysis(*trace_, follow, std::move(replays_));
  ProcessFindings findings = FindVerdicts(&analysis);
  replays_ = analysis.TakeReplays();
  replayed_ = replays_.sites->replayed();
  return findings;
}

}  // namespace vramtrack
