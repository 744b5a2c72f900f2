// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/traced_codes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace vramtrack {

void TracedCodes::Define(uint32_t id, TracedCode code) {
  const auto [found, is_new] = by_id_.emplace(id, static_cast<uint32_t>(entries_.size()));
  if (!is_new) {
    entries_[found->second].defined_again = true;
    return;
  }
  entries_.emplace_back();
  entries_.back().code = std::move(code);
}

void TracedCodes::Append(uint32_t id, std::string_view lines) {
  const auto found = by_id_.find(id);
  if (found == by_id_.end() || entries_[found->second].defined_again) return;
  entries_[found->second].code.lines += lines;
}

void TracedCodes::Freeze() {
  // By number, so that which of several equal ones is kept, and its index, do not depend on the order of blocks in the
  // file.
  std::vector<std::pair<uint32_t, uint32_t>> order(by_id_.begin(), by_id_.end());
  std::sort(order.begin(), order.end());
  std::vector<Entry> entries(1);
  for (auto& [id, index] : order) {
    entries.push_back(std::move(entries_[index]));
    by_id_[id] = index = static_cast<uint32_t>(entries.size() - 1);
  }
  entries_ = std::move(entries);
  using Key = std::tuple<std::string_view, std::string_view, uint32_t, schema::LineTable, std::string_view>;
  std::map<Key, uint32_t> first;
  for (const auto& [id, index] : order) {
    Entry& entry = entries_[index];
    const TracedCode& code = entry.code;
    const auto [same, is_new] =
        first.emplace(Key(code.name, code.file, code.first_line, code.table, code.lines), index);
    entry.distinct = same->second;
    if (is_new) entry.lines = PythonLines(code.table, code.lines, code.first_line);
  }
}

uint32_t TracedCodes::Distinct(uint32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? 0 : entries_[found->second].distinct;
}

}  // namespace vramtrack
