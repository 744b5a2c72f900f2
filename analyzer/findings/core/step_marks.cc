// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/step_marks.h"

namespace vramtrack {

std::optional<StepMarks> ParseStepMarks(std::string_view text) {
  if (text.empty()) return StepMarks();
  for (const std::string_view prefix : {"nvtx:", "record_function:"}) {
    if (text.size() > prefix.size() && text.substr(0, prefix.size()) == prefix) {
      return StepMarks{StepSource::kNvtx, std::string(text.substr(prefix.size()))};
    }
  }
  const std::optional<StepSource> source = ValueOf<StepSource>(text);
  if (!source) return std::nullopt;
  return StepMarks{*source, ""};
}

}  // namespace vramtrack
