// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/page.h"

#include "analyzer/base/display_text.h"

namespace vramtrack {

void Page::Line(std::string_view line, int indent) {
  text_.append(indent, ' ');
  text_ += line;
  text_ += '\n';
}

void Page::Words(std::string_view words, int indent, Paint paint, std::string_view lead) {
  bool first = true;
  for (const std::string& line : Wrap(words, style_.columns - indent)) {
    if (first && !lead.empty()) {
      text_ += PadRight(lead, indent);
      Line(Painted(style_, paint, line));
    } else {
      Line(Painted(style_, paint, line), indent);
    }
    first = false;
  }
}

void Page::Blank() {
  if (!text_.empty()) text_ += '\n';
}

void Page::Section(std::string_view title) {
  Blank();
  Line(Painted(style_, Paint::kBold, title));
}

}  // namespace vramtrack
