// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/markup_table.h"

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/render/html/escape.h"

namespace vramtrack {

MarkupTable::MarkupTable(const std::string& title, const std::vector<const char*>& columns) {
  absl::StrAppend(&text_, "<h2>", EscapeHtml(title), "</h2>\n<div class=\"scroll\"><table>\n<thead><tr>");
  for (const char* column : columns) absl::StrAppend(&text_, "<th scope=\"col\">", column, "</th>");
  text_ += "</tr></thead>\n<tbody>\n";
}

void MarkupTable::Row(const std::vector<std::string>& cells) {
  std::vector<std::string> escaped;
  for (const std::string& cell : cells) escaped.push_back(EscapeHtml(cell));
  MarkupRow(escaped);
}

void MarkupTable::MarkupRow(const std::vector<std::string>& cells) {
  if (++rows_ > kMostRows) return;
  text_ += "<tr>";
  for (const std::string& cell : cells) absl::StrAppend(&text_, "<td>", cell, "</td>");
  text_ += "</tr>\n";
}

std::string MarkupTable::Finish() const {
  if (rows_ == 0) return "";
  std::string text = text_ + "</tbody></table></div>\n";
  if (rows_ > kMostRows) absl::StrAppend(&text, "<p>and ", FormatCount(rows_ - kMostRows), " more</p>\n");
  return text;
}

}  // namespace vramtrack
