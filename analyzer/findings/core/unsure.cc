// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/unsure.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/attribution/library_pool.h"
#include "analyzer/base/quantity.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/findings/core/growth_findings.h"
#include "analyzer/leaks/buffer_growth.h"
#include "analyzer/leaks/cohort.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/steps/step_choice.h"
#include "analyzer/symbols/affix.h"

namespace vramtrack {
namespace {

// Of objects that were made where no steps are known, how many stayed: in windows, or where nothing could be judged.
// What comes before the first step is set-up.
uint64_t KeptWithoutSteps(const ProcessAnalysis& analysis, SiteIndex site) {
  constexpr double kShareThatMatters = 0.05;
  uint64_t objects = 0;
  const SiteHistory history = analysis.histories().history(site);
  for (const RunPhase& phase : analysis.phases()) {
    if (phase.kind == PlannedPhase::Kind::kSteps || !phase.follows || phase.share < kShareThatMatters) continue;
    for (const Cohort& cohort : history.cohorts) {
      if (cohort.step >= phase.steps.begin && cohort.step < phase.steps.end) objects += cohort.live_objects;
    }
  }
  return objects;
}

// How many sites that do not leak kept something that was made where no steps are known.
size_t SitesThatKept(const ProcessAnalysis& analysis) {
  size_t kept = 0;
  for (const SiteIndex i : analysis.verdicts().indices()) {
    const LeakVerdict& verdict = analysis.verdicts()[i];
    if (IsLeak(verdict.verdict) || IsSegmentSite(analysis.ledger().sites()[i])) continue;
    if (verdict.verdict == Verdict::kInsufficientEvidence) continue;
    const bool stopped = verdict.verdict == Verdict::kOneTime || verdict.verdict == Verdict::kSublinear;
    if (analysis.plan().has_windows()) {
      kept += stopped && verdict.evidence.survivors.objects >= kFewestRepeats;
    } else if (!analysis.phases().empty()) {
      kept += KeptWithoutSteps(analysis, i) >= kFewestRepeats;
    }
  }
  return kept;
}

// Whether a site may have kept memory repeatedly where no steps are known. The first step begins with the run, so it
// has the set-up too.
bool MayKeepOutsideSteps(const ProcessAnalysis& analysis) {
  const Sites& sites = analysis.ledger().sites();
  for (const SiteIndex i : sites.indices()) {
    if (LevelOf(sites[i]) == Level::kHandle) continue;
    const SiteHistory history = analysis.histories().history(i);
    if (sites[i].allocations >= history.born_objects + kFewestRepeats) return true;
    const bool has_first = !history.cohorts.empty() && history.cohorts[0].step == 0;
    if (has_first && history.cohorts[0].live_objects >= kFewestRepeats) return true;
  }
  return false;
}

// Why sites cannot be judged, each reason once; none if more steps would do.
std::vector<std::string> Doubts(const ProcessAnalysis& analysis, const ProcessFindings& findings) {
  std::vector<std::string> doubts;
  if (findings.further_steps_needed) return doubts;
  for (const LeakVerdict& verdict : analysis.verdicts()) {
    const bool known = std::find(doubts.begin(), doubts.end(), verdict.doubt) != doubts.end();
    if (verdict.verdict == Verdict::kInsufficientEvidence && !verdict.doubt.empty() && !known) {
      doubts.push_back(verdict.doubt);
    }
  }
  return doubts;
}

struct Divider {
  std::string_view library;  // the beginning of its name
  const char* setting;       // what makes it allocate each block from CUDA
};
constexpr Divider kDividers[] = {
    {"xla_cuda_plugin", "run with XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"},
    {"xla_extension", "run with XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"},
    {"libtensorflow", "run with TF_GPU_ALLOCATOR=cuda_malloc_async"},
    {"librmm", kRmmSetting},
    {"libonnxruntime_providers_cuda", "set its option arena_extend_strategy to kSameAsRequested"},
};

// Larger pieces than these, and no more of them, are what pools are made of.
constexpr uint64_t kLeastPiece = 64 << 20, kMostPieces = 64;
// Less of the device's peak does not matter.
constexpr uint64_t kLeastPart = 20;

// Whether the blocks of a library's allocator are in the trace.
bool AreSeen(const Definitions& definitions, std::string_view library) {
  return std::any_of(definitions.allocators.begin(), definitions.allocators.end(),
                     [library](const TracedAllocator& allocator) { return allocator.name == library; });
}

const Divider* DividerOf(std::string_view owner) {
  const auto* const found = std::find_if(std::begin(kDividers), std::end(kDividers), [owner](const Divider& divider) {
    return StartsWith(owner, divider.library);
  });
  return found == std::end(kDividers) ? nullptr : found;
}

// Returns a sentence for each library that holds much of a device in a few pieces which it divides itself, so that its
// blocks are not seen: a run whose other sites do not leak is not clean then. Each names the setting that shows the
// blocks. For libraries that are known to do so: docs/frameworks.md.
std::vector<std::string> UnseenBlocks(ProcessAnalysis* analysis) {
  struct Held {
    uint64_t bytes = 0, pieces = 0;
  };
  const Ledger& ledger = analysis->ledger();
  std::map<std::pair<uint32_t, std::string>, Held> held;  // by scope and owner
  for (const Site& site : ledger.sites()) {
    if (site.scope == Site::kNoScope || !ledger.scopes()[site.scope].is_device()) continue;
    // Blocks of CUDA's own pools.
    const uint32_t kind = site.key.kind;
    if (IsStreamOrdered(kind) || kind == schema::GRAPH_MEMORY) continue;
    // What has turned out to hold blocks is divided already.
    const uint64_t bytes = site.bytes_at_peak - std::min(site.bytes_at_peak, site.segment_bytes_at_peak);
    if (bytes == 0) continue;
    std::string owner = analysis->symbolizer().Owner(site.key.stack);
    if (DividerOf(owner) == nullptr || AreSeen(analysis->trace().definitions(), owner)) continue;
    Held& sum = held[{site.scope, std::move(owner)}];
    sum.bytes += bytes;
    sum.pieces += site.allocations;
  }
  std::vector<std::string> sentences;
  for (const auto& [of, sum] : held) {
    const Scope& scope = ledger.scopes()[of.first];
    if (sum.pieces > kMostPieces || sum.bytes / sum.pieces < kLeastPiece) continue;
    if (sum.bytes < scope.peak / kLeastPart) continue;
    sentences.push_back(absl::StrCat(
        of.second, " holds ", FormatByteCount(static_cast<double>(sum.bytes)), " of device ", scope.device.value(),
        ", and what it does with it is not seen: ", DividerOf(of.second)->setting, " to see its blocks"));
  }
  return sentences;
}

// Of what the first judged step needed, the last ones need so much more.
constexpr double kLeastRise = 0.02;
// If what stays grows at this share of the rate, it is the growth of what stays.
constexpr double kKept = 0.5;
// So often the peak of a step must rise, or it may be a few larger inputs.
constexpr size_t kLeastRises = 5;
// The last third rises at least at this share of the whole rate: it has not stopped.
constexpr double kStillRising = 0.5;
// Objects of a line that became this much larger on average.
constexpr double kLarger = 1.1;

// The line whose objects grew most, as far as they are live at the peak.
std::string LargerLine(ProcessAnalysis* analysis, DeviceIndex device) {
  const Sites& sites = analysis->ledger().sites();
  std::optional<SiteIndex> most;
  double grown = 0;
  for (const SiteIndex i : sites.indices()) {
    if (sites[i].key.device != device || sites[i].scope == Site::kNoScope || IsSegmentSite(sites[i])) continue;
    const double ratio = SizeRatio(analysis->histories().births(i));
    if (ratio < kLarger) continue;
    const double larger = static_cast<double>(sites[i].bytes_at_peak) * (1 - 1 / ratio);
    if (larger <= grown) continue;
    grown = larger;
    most = i;
  }
  if (!most) return "";
  const std::vector<ReportFrame> frames = analysis->symbolizer().Frames(sites[*most].key.stack);
  if (frames.empty()) return "";
  const ReportFrame& frame = frames[OwnFrame(frames).value_or(0)];
  return absl::StrCat(FrameLocation(frame), FunctionBehindLocation(frame));
}

// Finds a job that needs more memory in each step although it keeps nothing: a buffer is freed and made again, larger
// each time, or inputs get longer. No site leaks then, and the device is full one day nonetheless. Returns a sentence
// that says by how much and which line's objects grow most; empty if the steps do not need more and more, if they
// stopped doing so before the end, or if what stays grows as fast.
std::string RisingSteps(ProcessAnalysis* analysis, DeviceIndex device) {
  const Scope* scope = LeadingScope(analysis->ledger(), device);
  if (scope == nullptr || analysis->plan().has_windows()) return "";
  const LevelSeries peaks = SeriesOf(scope->ceilings, scope->ceilings);
  const size_t steps = peaks.low.size(), first = analysis->run().warmup_end;
  if (steps < first + 3 * kMinGrowthSteps) return "";
  const std::optional<FittedGrowth> whole = FitGrowth(peaks, first);
  const std::optional<FittedGrowth> late = FitGrowth(peaks, steps - (steps - first) / 3);
  if (!whole || !late || whole->ci_low <= 0 || whole->rises < kLeastRises) return "";
  if (late->ci_low <= 0 || late->bytes_per_step < kStillRising * whole->bytes_per_step) return "";
  const std::optional<FittedGrowth> kept = FitGrowth(SeriesOf(scope->floors, scope->floors), first);
  if (kept && kept->bytes_per_step > kKept * whole->bytes_per_step) return "";
  const double rise = whole->bytes_per_step * static_cast<double>(steps - first);
  if (rise < kLeastRise * peaks.low[first]) return "";
  RunShape run = analysis->run();
  run.device_total_bytes = DeviceTotalBytes(analysis->trace(), analysis->ledger(), device);
  if (!IsMaterial({whole->bytes_per_step, 0, {}, {}}, run)) return "";
  const std::string line = LargerLine(analysis, device);
  return absl::StrCat("steps on device ", device.value(),
                      " need more and more memory: ", FormatByteCount(whole->bytes_per_step),
                      " per step, although nothing of it stays",
                      line.empty() ? "" : absl::StrCat("; most is of objects that get larger, from ", line));
}

// A part of a run that is not judged does not matter while it is smaller than the rest.
constexpr double kLeastJudged = 0.5;
// Fewer steps than this are too few, whatever they cover.
constexpr uint64_t kFewSteps = 10;

}  // namespace

bool StepsAreInGraphs(const ProcessAnalysis& analysis, const ProcessFindings& findings) {
  if (findings.steps.count >= kEnoughSteps) return false;
  bool made = false;
  for (const SiteIndex i : analysis.ledger().sites().indices()) {
    const Site& site = analysis.ledger().sites()[i];
    if (site.key.kind != schema::GRAPH_EXEC || site.allocations == 0) continue;
    if (analysis.run().steps > 0 && analysis.histories().history(i).born_objects > 0) return false;
    made = true;
  }
  return made;
}

std::vector<std::string> WhatIsUnsure(ProcessAnalysis* analysis, const ProcessFindings& findings, bool in_graphs) {
  const size_t kept = SitesThatKept(*analysis);
  std::vector<std::string> unsure = UnseenBlocks(analysis);
  for (std::string& doubt : Doubts(*analysis, findings)) unsure.push_back(std::move(doubt));
  if (in_graphs) {
    unsure.push_back(
        "after its last step the job made a CUDA graph, and steps that replay one are not seen, as they allocate "
        "nothing: call vramtrack_step(), or push an NVTX range, once a step");
  }
  if (findings.steps.count == 0) {
    if (const uint64_t rounds = analysis->plan().idle_rounds; rounds > 0) {
      unsure.push_back(
          absl::StrCat("the allocations repeat ", rounds,
                       " times and nothing is freed as often, which may be set-up; --step-marks periodicity "
                       "takes them as steps"));
    }
    return unsure;
  }
  const bool too_few = findings.steps.count < kFewSteps && findings.further_steps_needed;
  const bool may_hide = findings.steps.count < kFewSteps || MayKeepOutsideSteps(*analysis);
  if (findings.steps.judged < kLeastJudged && !too_few && may_hide) {
    unsure.push_back(absl::StrFormat("the %s cover only %.0f %% of the run: a leak in the rest would not be seen",
                                     findings.steps.unit == StepUnit::kStep ? "steps that were found" : "windows",
                                     100 * findings.steps.judged));
  }
  if (kept > 0) {
    unsure.push_back(
        absl::StrCat(kept, kept == 1 ? " site" : " sites",
                     " kept what was allocated where no steps were found: call vramtrack_step() once a step"));
  }
  for (const ReportDevice& device : findings.devices) {
    std::string rising = RisingSteps(analysis, DeviceIndex(device.index));
    if (!rising.empty()) unsure.push_back(std::move(rising));
    // Without steps a report has no growth, and what matters is the sum.
    const bool windows = analysis->plan().has_windows();
    double growth = device.unexplained_growth;
    if (windows) {
      ReportDevice by_window = device;
      DescribeGrowth(*analysis, &by_window);
      growth = by_window.unexplained_growth * analysis->run().steps;
    }
    if (growth <= 0) continue;
    unsure.push_back(absl::StrCat("live bytes of device ", device.index, " grow by ", FormatByteCount(growth),
                                  windows ? "" : " per step", " that no allocation site explains"));
  }
  return unsure;
}

}  // namespace vramtrack
