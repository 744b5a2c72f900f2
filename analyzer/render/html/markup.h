// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_MARKUP_H_
#define ANALYZER_RENDER_HTML_MARKUP_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vramtrack {

// An HTML table with a title above it. Thread-compatible.
class MarkupTable {
 public:
  static constexpr size_t kMostRows = 200;  // further rows are only counted

  MarkupTable(const std::string& title, const std::vector<const char*>& columns);

  // Adds a row. The cells are text, which is escaped.
  void Row(const std::vector<std::string>& cells);
  // Adds a row. The cells are markup.
  void MarkupRow(const std::vector<std::string>& cells);
  // Returns the table; empty if it has no rows.
  std::string Finish() const;

 private:
  std::string text_;
  size_t rows_ = 0;
};

// Escapes text from a trace (any bytes) for the content of an element or of an attribute in double quotes. Unprintable
// characters are replaced as by Printable, and markup characters are escaped.
std::string EscapeHtml(std::string_view bytes);

// Escapes text of our own that has several lines.
std::string EscapeLines(std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_MARKUP_H_
