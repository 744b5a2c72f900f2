// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/rising_steps.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/leaks/buffer_growth.h"
#include "analyzer/leaks/growth.h"
#include "analyzer/leaks/materiality.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {
namespace {

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

}  // namespace

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

}  // namespace vramtrack
