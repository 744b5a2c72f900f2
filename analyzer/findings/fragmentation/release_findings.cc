// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/release_findings.h"

#include <utility>

#include "analyzer/findings/core/device_findings.h"

namespace vramtrack {

void ReleaseFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  const double ticks_per_second = analysis_.trace().clock().ticks_per_second();
  for (const auto& [stack, releases] : releases_.by_stack()) {
    ReportRelease release{releases.calls, releases.segments, releases.bytes, releases.least, releases.most, {}, {}};
    for (const Releases::Call& call : releases.times) {
      release.times.push_back(
          {ReportedStep(analysis_.run(), call.step), analysis_.trace().clock().Seconds(call.ticks), call.bytes});
    }
    release.timed = releases.timed;
    release.seconds_at_least = static_cast<double>(releases.ticks_at_least) / ticks_per_second;
    release.seconds_at_most = static_cast<double>(releases.ticks_at_most) / ticks_per_second;
    release.stack = analysis_.shown().Frames(stack);
    findings->releases.push_back(std::move(release));
  }
}

}  // namespace vramtrack
