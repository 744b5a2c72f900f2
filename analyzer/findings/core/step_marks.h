// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_STEP_MARKS_H_
#define ANALYZER_FINDINGS_CORE_STEP_MARKS_H_

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/model/enums.h"

namespace vramtrack {

// The marks that a caller wants steps to end at.
struct StepMarks {
  std::optional<StepSource> source;  // nullopt: the source that covers most of the run
  std::string name;                  // of kNvtx: only the ranges with this name; empty: all

  bool any() const { return !source; }
  bool none() const { return source == StepSource::kNone; }
};

// Parses "marks", "nvtx", "nvtx:NAME", "record_function:NAME", "optimizer", "periodicity" or "none"; an empty text is
// any source. Returns nullopt for another text.
inline std::optional<StepMarks> ParseStepMarks(std::string_view text) {
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

#endif  // ANALYZER_FINDINGS_CORE_STEP_MARKS_H_
