// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_PAGE_H_
#define ANALYZER_RENDER_TEXT_PAGE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {

// Columns before the lines of a section, and before what is said of a finding below its first line.
constexpr int kSectionIndent = 2, kFindingIndent = 6;
// Frames of a stack in a whole section, and in one that nobody asked for.
constexpr size_t kStackFrames = 12, kShortFrames = 3;

// Builds a text line by line. Thread-compatible.
class Page {
 public:
  explicit Page(const TextStyle& style) : style_(style) {}

  const TextStyle& style() const { return style_; }

  // Adds `line` unchanged, after `indent` spaces.
  void Line(std::string_view line, int indent = 0);
  // Adds words, wrapped to the width of the page. They start in column `indent`, after `lead`, which starts in column
  // 0.
  void Words(std::string_view words, int indent, Paint paint = Paint::kPlain, std::string_view lead = {});
  void Blank();
  // Adds a blank line and a title.
  void Section(std::string_view title);

  const std::string& text() const { return text_; }

 private:
  TextStyle style_;
  std::string text_;
};

// Returns text with marks beyond ASCII as the terminal can show it.
std::string InStyle(const TextStyle& style, const std::string& text);

enum class ColorMode { kAuto, kAlways, kNever };

// Returns what file descriptor `fd` can show. The width is COLUMNS, or that of the terminal, or 100, limited to 80 to
// 120. Unicode is used if the locale of the environment is UTF-8. `color` decides on colour; kAuto means on a terminal
// that is not "dumb", without NO_COLOR.
TextStyle DetectStyle(int fd, ColorMode color);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_PAGE_H_
