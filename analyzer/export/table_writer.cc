// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/table_writer.h"

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"

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

namespace {

std::string RunName(const std::string& host, uint64_t start_unix_ns, uint32_t pid) {
  return Printable(absl::StrCat(host, ":", start_unix_ns, ":", pid));
}

}  // namespace

TableProcess::TableProcess(const Trace& of)
    : run(RunName(of.definitions().process.host, of.clock().start_realtime_ns(), of.definitions().process.pid)),
      trace(Printable(of.path())),
      pid(of.definitions().process.pid),
      rank(of.definitions().process.rank) {}

TableProcess::TableProcess(const std::string& path, const ProcessSummary& of)
    : run(RunName(of.identity.host, of.identity.start_unix_ns, of.identity.pid)),
      trace(Printable(path)),
      pid(of.findings.process.pid),
      rank(of.findings.process.rank) {}

}  // namespace vramtrack
