// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_TEXT_H_
#define ANALYZER_RENDER_TEXT_TEXT_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// A part of the text report. Those that are shown by default are shorter then than if they are asked for.
struct TextSection {
  const char* name;
  const char* about;
  bool by_default;
};
// Returns all sections, in the order of the text.
std::vector<TextSection> TextSections();

struct TextOptions {
  size_t top = 5;              // the most rows of a table
  bool verbose = false;        // all sections, whole
  std::set<std::string> show;  // names of sections that are shown, whole
  bool every_frame = false;    // of stacks

  bool Whole(const std::string& section) const { return verbose || show.count(section) != 0; }
};

// Renders the report for a terminal, the answer first. By default that is about 25 lines.
std::string RenderText(const Report& report, const TextStyle& style, const TextOptions& options = {});

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_TEXT_H_
