// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/table.h"

#include "analyzer/base/display_text.h"

namespace vramtrack {

void ColumnValues::AddOther(LastingText lasting) {
  Recent& recent = recent_[(reinterpret_cast<uintptr_t>(lasting.text) * 0x9e3779b97f4a7c15) >> 58];
  if (recent.text != lasting.text) recent = {lasting.text, Symbol(*lasting.text)};
  AddWord(recent.symbol);
}

void ColumnValues::AddOther(std::string_view text) { AddWord(Symbol(Printable(text))); }

void ColumnValues::AddOther(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) words_.push_back(Symbol(Printable(text)));
  lengths_.push_back(static_cast<uint32_t>(texts.size()));
}

uint32_t ColumnValues::Symbol(std::string_view text) {
  const auto found = symbol_of_.find(text);
  if (found != symbol_of_.end()) return found->second;
  const auto symbol = static_cast<uint32_t>(symbols_.size());
  symbols_.emplace_back(text);
  symbol_of_.emplace(symbols_.back(), symbol);
  text_bytes_ += text.size();
  return symbol;
}

void ColumnValues::Clear() {
  recent_.fill({});
  words_.clear();
  present_.clear();
  lengths_.clear();
  symbol_of_.clear();
  symbols_.clear();
  nulls_ = text_bytes_ = 0;
}

std::vector<TableColumn> TableRows::declared() const {
  std::vector<TableColumn> columns;
  for (const ColumnValues& column : columns_) columns.push_back(column.column());
  return columns;
}

size_t TableRows::TextBytes() const {
  size_t bytes = 0;
  for (const ColumnValues& column : columns_) bytes += column.text_bytes();
  return bytes;
}

void TableRows::Clear() {
  for (ColumnValues& column : columns_) column.Clear();
  rows_ = 0;
}

}  // namespace vramtrack
