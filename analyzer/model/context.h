// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_CONTEXT_H_
#define ANALYZER_MODEL_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"

namespace vramtrack {

// Contexts that one call stack made on one device.
struct ReportContext {
  uint32_t device = 0;
  uint64_t made = 0, live = 0;
  bool idle = false;
  std::optional<uint64_t> at_most_bytes;
  std::string thread;
  double seconds = 0;
  std::optional<int64_t> step;
  std::vector<ReportFrame> frames;
};

template <>
inline constexpr const char* kAbout<ReportContext> = "CUDA contexts that one call stack made on one device";
template <class Visitor>
void Fields(Visitor& visit, ReportContext& context) {
  visit(1, "device", context.device);
  visit(2, "made", context.made, "how many");
  visit(3, "live", context.live, "how many of them were not destroyed");
  visit(4, "idle", context.idle,
        "the process has less than a hundredth of its memory on that device: the context is its cost there");
  visit(5, "at_most_bytes", context.at_most_bytes,
        "of one context: what was in use on the device and not in the trace when the job last asked, by context; "
        "`null` if it did not ask");
  visit(6, "thread", context.thread, "name of the thread that made the first; empty if it has none of its own");
  visit(7, "seconds", context.seconds, "when it was made, after the recording began");
  visit(8, "step", context.step, "in which step; `null` without steps");
  visit(9, "frames", context.frames, "most recent call first");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_CONTEXT_H_
