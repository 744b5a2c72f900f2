// SPDX-License-Identifier: Apache-2.0
//
// The processes of a run and its steps.
#ifndef ANALYZER_MODEL_RUN_H_
#define ANALYZER_MODEL_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/context.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/sleep.h"

namespace vramtrack {

struct ReportActivities {
  struct OnlyCupti {
    std::string library;
    std::string kind;
    uint32_t device = 0;
    uint64_t allocations = 0, bytes = 0, live_objects = 0, live_bytes = 0;
  };
  struct OnlyHooks {
    std::string kind;
    uint64_t allocations = 0, bytes = 0;
    bool reported = false;
  };
  struct Missing {
    double from_s = 0, to_s = 0;
    std::string why;
  };

  uint64_t records = 0, dropped = 0, unwritten = 0;
  uint64_t joined = 0, joined_bytes = 0;
  uint64_t other_sizes = 0;
  std::vector<OnlyCupti> only_cupti;
  std::vector<OnlyHooks> only_hooks;
  std::vector<Missing> missing;  // periods without records
};

template <>
inline constexpr const char* kAbout<ReportActivities::OnlyCupti> = "What no hook saw";
template <class Visitor>
void Fields(Visitor& visit, ReportActivities::OnlyCupti& only) {
  visit(1, "library", only.library, "that asked for it; empty where CUPTI does not say");
  visit(2, "kind", only.kind);
  visit(3, "device", only.device);
  visit(4, "allocations", only.allocations);
  visit(5, "bytes", only.bytes);
  visit(6, "live_objects", only.live_objects, "at the end");
  visit(7, "live_bytes", only.live_bytes, "at the end");
}

template <>
inline constexpr const char* kAbout<ReportActivities::OnlyHooks> = "What CUPTI did not report";
template <class Visitor>
void Fields(Visitor& visit, ReportActivities::OnlyHooks& only) {
  visit(1, "kind", only.kind);
  visit(2, "allocations", only.allocations);
  visit(3, "bytes", only.bytes);
  visit(4, "reported", only.reported, "CUPTI has reported others of this kind, so that it should have reported these");
}

template <>
inline constexpr const char* kAbout<ReportActivities::Missing> = "When no records came";
template <class Visitor>
void Fields(Visitor& visit, ReportActivities::Missing& missing) {
  visit(1, "from_s", missing.from_s, "seconds since the recording began");
  visit(2, "to_s", missing.to_s);
  visit(3, "why", missing.why);
}

template <>
inline constexpr const char* kAbout<ReportActivities> =
    "What [CUPTI](cupti.md)'s records say in addition to the hooked events, of memory that the driver gives out";
template <class Visitor>
void Fields(Visitor& visit, ReportActivities& activities) {
  visit(1, "records", activities.records);
  visit(2, "dropped", activities.dropped, "by CUPTI");
  visit(3, "unwritten", activities.unwritten, "there was no room for them in the trace");
  visit(4, "joined", activities.joined, "allocations that hooks saw, too");
  visit(5, "joined_bytes", activities.joined_bytes);
  visit(6, "other_sizes", activities.other_sizes, "of the joined ones, those whose sizes differ");
  visit(7, "only_cupti", activities.only_cupti, "by live bytes, the most first");
  visit(8, "only_hooks", activities.only_hooks, "by bytes, the most first");
  visit(9, "missing", activities.missing);
}

struct ReportAllocator {
  std::string framework, name;
  uint32_t device = 0;
};

template <>
inline constexpr const char* kAbout<ReportAllocator> = "An allocator of a framework other than PyTorch";
template <class Visitor>
void Fields(Visitor& visit, ReportAllocator& allocator) {
  visit(1, "framework", allocator.framework, "its name: `TensorFlow`");
  visit(2, "name", allocator.name, "of the allocator, as the framework calls it: `GPU_0_bfc`");
  visit(3, "device", allocator.device, "whose memory it divides; 63 is the host's memory");
}

struct ReportProcess {
  uint32_t pid = 0, parent_pid = 0;
  std::optional<int> rank;
  std::vector<std::string> command;
  std::string run_id;
  bool complete = false;
  std::string incomplete_why;
  uint64_t events = 0, lost_events = 0;
  double duration_s = 0, joined_after_s = 0;
  double newest_event_s = 0;  // since 1970; 0: unknown
  std::optional<ReportActivities> activities;
  std::vector<ReportAllocator> allocators;
  std::vector<ReportSleep> sleeps;
  std::vector<ReportContext> contexts;
};

template <>
inline constexpr const char* kAbout<ReportProcess> = "One for each trace";
template <class Visitor>
void Fields(Visitor& visit, ReportProcess& process) {
  visit(1, "pid", process.pid, "process id");
  visit(2, "parent_pid", process.parent_pid, "process id of its parent");
  visit(3, "rank", process.rank, "in the job, from the launcher's environment variables; `null` without one");
  visit(4, "command", process.command, "its words");
  visit(11, "run_id", field::OrNull{process.run_id}, "the same in all processes of a run; `null` if it is not known");
  visit(5, "complete", process.complete, "it ended normally, nothing was lost and nothing is damaged");
  visit(6, "incomplete_why", process.incomplete_why, "one line; empty if complete");
  visit(7, "events", process.events, "in the trace");
  visit(8, "lost_events", process.lost_events, "known to be missing");
  visit(9, "duration_s", process.duration_s, "from the first CUDA call, or from when it was joined");
  visit(12, "joined_after_s", process.joined_after_s,
        "its age when it was joined by [attach](attach.md) or [start](start-stop.md): what it did before is unknown; 0 "
        "if it was recorded from its first CUDA call");
  visit(13, "newest_event_s", field::Internal{process.newest_event_s});
  visit(10, "activities", process.activities, "`null` without [CUPTI](cupti.md)");
  visit(14, "allocators", process.allocators,
        "of [frameworks other than PyTorch](frameworks.md), whose blocks are sites of the level `framework`");
  visit(16, "contexts", process.contexts,
        "[CUDA contexts](how-to/find-a-context-on-the-wrong-device.md), idle ones first");
  visit(15, "sleeps", process.sleeps, "one for each device whose memory [slept](report.md#sleep-and-wake)");
}

struct ReportStepRounds {
  uint64_t steps = 0;
  uint64_t count = 0;
};

template <>
inline constexpr const char* kAbout<ReportStepRounds> =
    "A loop around the steps, such as an epoch, an evaluation every so many steps, or accumulated gradients";
template <class Visitor>
void Fields(Visitor& visit, ReportStepRounds& rounds) {
  visit(1, "steps", rounds.steps, "in each");
  visit(2, "count", rounds.count, "complete ones");
}

struct ReportPhase {
  StepSource source = StepSource::kNone;
  std::string name;
  StepUnit unit = StepUnit::kStep;
  uint64_t count = 0;
  uint64_t first_step = 0;
  double share = 0;
};

template <>
inline constexpr const char* kAbout<ReportPhase> =
    "A part of a run whose steps are of one kind: training, then evaluation, then generation";
template <class Visitor>
void Fields(Visitor& visit, ReportPhase& phase) {
  visit(1, "source", phase.source, "as of `steps`; `none` of windows, and of a part that is not judged");
  visit(2, "name", field::OrNull{phase.name}, "of the range that its steps are; `null` where they have no name");
  visit(3, "unit", phase.unit, "`none`: this part is not judged");
  visit(4, "count", phase.count, "complete steps or windows");
  visit(5, "first_step", phase.first_step, "how many came before it");
  visit(6, "share", phase.share, "of the run, 0 to 1");
}

struct ReportSteps {
  uint64_t count = 0;
  StepSource source = StepSource::kNone;
  double confidence = 0;
  // kWindow if no steps were found: `count` then counts windows of `window_bytes` allocated bytes each.
  StepUnit unit = StepUnit::kStep;
  uint64_t window_bytes = 0;
  std::vector<ReportStepRounds> rounds = {};
  std::string name = {};
  double coverage = 0;
  double judged = 0;
  std::string runner_up = {};
  uint64_t runner_up_count = 0;
  std::vector<ReportPhase> phases = {};
  // The duration of one step, in seconds.
  std::optional<double> seconds = {};
  uint64_t rarest_leak = 0;
};

template <>
inline constexpr const char* kAbout<ReportSteps> = "Where steps end, and how that is known";
template <class Visitor>
void Fields(Visitor& visit, ReportSteps& steps) {
  visit(1, "count", steps.count, "complete steps; of a run with phases, those of all of them");
  visit(2, "source", steps.source,
        "`marks` are calls of `vramtrack_step()`, `periodicity` is inferred from the allocations; see [where steps "
        "end](ledger.md#where-steps-end)");
  visit(3, "confidence", steps.confidence, "0 to 1");
  visit(4, "unit", field::OneOf{steps.unit, {StepUnit::kStep, StepUnit::kWindow}},
        "`window` where no steps were found: `count` is then that of windows in which `window_bytes` were allocated; "
        "see [steps](leak-verdicts.md#steps)");
  visit(5, "window_bytes", field::OrNull{steps.window_bytes}, "`null` where there are steps");
  visit(6, "rounds", steps.rounds,
        "loops around the steps, the shortest first, as far as they are sure; only for steps from `periodicity`");
  visit(7, "name", field::OrNull{steps.name},
        "of the range that a step is, with `#` for a number (`train step #`); `null` where steps have no name");
  visit(8, "coverage", steps.coverage, "share of the run that steps cover, by its work and its active time, 0 to 1");
  visit(9, "judged", steps.judged,
        "the same, with the windows that stand for steps where there are none; below a half the report is not sure");
  visit(10, "runner_up", field::NamedCount{steps.runner_up, steps.runner_up_count},
        "what else could have been a step; `null` where there was nothing");
  visit(12, "phases", steps.phases,
        "parts of a run whose steps differ, by time; empty where all steps are of one kind");
  visit(13, "seconds", steps.seconds,
        "that a step takes, by the later half of the run; `null` for windows, and where steps have no duration");
  visit(14, "rarest_leak", field::OrNull{steps.rarest_leak},
        "n, where the run is long enough to show a leak in each n-th step; `null` where it is not, and where a line "
        "leaks");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_RUN_H_
