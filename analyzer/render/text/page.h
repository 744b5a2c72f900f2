// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_PAGE_H_
#define ANALYZER_RENDER_TEXT_PAGE_H_

#include <string>
#include <string_view>

#include "analyzer/base/display_text.h"

namespace vramtrack {

// Text that grows line by line. Thread-compatible.
class Page {
 public:
  explicit Page(const TextStyle& style) : style_(style) {}

  const TextStyle& style() const { return style_; }

  // `line` as it is, behind `indent` spaces.
  void Line(std::string_view line, int indent = 0);
  // Words, wrapped to the width of the page. They begin in column `indent`, after `lead` which begins in column 0.
  void Words(std::string_view words, int indent, Paint paint = Paint::kPlain, std::string_view lead = {});
  void Blank();
  // A blank line and a title.
  void Section(std::string_view title);

  const std::string& text() const { return text_; }

 private:
  TextStyle style_;
  std::string text_;
};

enum class ColorMode { kAuto, kAlways, kNever };

// What can be shown on file descriptor `fd`. Columns: COLUMNS, or what the terminal says, or 100; within 80 to 120.
// Unicode when the locale of the environment is UTF-8. Colour by `color`; kAuto: on a terminal without NO_COLOR that is
// not "dumb".
TextStyle DetectStyle(int fd, ColorMode color);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_PAGE_H_
