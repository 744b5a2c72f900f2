// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/table_rows.h"

namespace vramtrack {

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

}  // namespace vramtrack
