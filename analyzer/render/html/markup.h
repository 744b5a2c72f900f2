// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_MARKUP_H_
#define ANALYZER_RENDER_HTML_MARKUP_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vramtrack {

// A table with a title above. Thread-compatible.
class MarkupTable {
 public:
  static constexpr size_t kMostRows = 200;  // further ones are counted

  MarkupTable(const std::string& title, const std::vector<const char*>& columns);

  // Cells are text.
  void Row(const std::vector<std::string>& cells);
  // Cells are markup.
  void MarkupRow(const std::vector<std::string>& cells);
  // Empty without rows.
  std::string Finish() const;

 private:
  std::string text_;
  size_t rows_ = 0;
};

// Text from a trace (any bytes) as the content of an element or of an attribute in double quotes: as Printable has it,
// with the characters of markup escaped.
std::string EscapeHtml(std::string_view bytes);

// The same of text of our own that has lines.
std::string EscapeLines(std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_MARKUP_H_
