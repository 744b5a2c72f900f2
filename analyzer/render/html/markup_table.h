// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_MARKUP_TABLE_H_
#define ANALYZER_RENDER_HTML_MARKUP_TABLE_H_

#include <cstddef>
#include <string>
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

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_MARKUP_TABLE_H_
