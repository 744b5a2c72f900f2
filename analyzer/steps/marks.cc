// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/marks.h"

#include <algorithm>
#include <map>

namespace vramtrack {
namespace {

// `marks` not empty and by time.
uint64_t MarkingThread(const std::vector<StepMark>& marks) {
  std::map<uint64_t, size_t> counts;
  for (const StepMark& mark : marks) ++counts[mark.thread];
  size_t most = 0;
  for (const auto& [thread, count] : counts) most = std::max(most, count);
  const auto first =
      std::find_if(marks.begin(), marks.end(), [&](const StepMark& mark) { return counts[mark.thread] == most; });
  return first->thread;
}

}  // namespace

Steps StepsFromMarks(std::vector<StepMark> marks, StepSource source) {
  Steps steps;
  if (marks.empty()) return steps;
  std::stable_sort(marks.begin(), marks.end(), [](const StepMark& a, const StepMark& b) {
    return a.time != b.time ? a.time < b.time : a.thread < b.thread;
  });
  const uint64_t thread = MarkingThread(marks);
  steps.source = source;
  steps.confidence = 1;
  for (const StepMark& mark : marks) {
    if (mark.thread != thread) continue;
    steps.boundaries.push_back(mark.time);
    steps.numbers.push_back(mark.number);
    steps.values.push_back(mark.value);
  }
  return steps;
}

}  // namespace vramtrack
