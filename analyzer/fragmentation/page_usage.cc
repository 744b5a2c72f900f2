// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/page_usage.h"

namespace vramtrack {

void PageUsage::ChangeShared(uint64_t page, int by) {
  if (by > 0) {
    ++shared_[page];
    return;
  }
  const auto found = shared_.find(page);
  if (found != shared_.end() && --found->second == 0) shared_.erase(found);
}

void PageUsage::Change(uint64_t address, uint64_t bytes, int by) {
  const auto sign = static_cast<uint64_t>(static_cast<int64_t>(by));
  const uint64_t rounded = RoundedBytes(address, bytes);
  live_ += sign * bytes;
  rounded_ += sign * rounded;
  const uint64_t end = address + rounded;
  uint64_t first = address / kDevicePageBytes;   // first page that is filled
  const uint64_t last = end / kDevicePageBytes;  // first page behind them
  if (address % kDevicePageBytes != 0) {
    ChangeShared(first, by);
    ++first;
  }
  if (end % kDevicePageBytes != 0 && last >= first) ChangeShared(last, by);
  if (last > first) whole_pages_ += sign * (last - first);
}

}  // namespace vramtrack
