// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_UNSEEN_MEMORY_H_
#define ANALYZER_LEDGER_UNSEEN_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/site_table.h"

namespace vramtrack {

// Memory that the driver allocated but that no hooked event reports. It has no stack. The library that requested it
// takes the stack's place, so each library is one site for each kind and device.
struct UnseenMemory {
  struct Change {
    uint64_t ticks = 0;
    uint64_t ordinal = 0;  // identifies the allocation
    bool born = false;     // true: an allocation; false: its free
    uint32_t kind = 0;
    DeviceIndex device;
    uint32_t library = 0;  // index into `libraries`
    uint64_t address = 0, bytes = 0;
  };

  std::vector<std::string> libraries;    // file names; "" for an unknown library
  std::vector<Change> changes;           // by time; an allocation comes before its free
  StackIndex first_stack = kEmptyStack;  // stack indices from here on are libraries; the trace has only lower ones
  // The share of records about this memory that were lost, 0 to 1.
  double lost_share = 0;

  StackIndex StackOf(uint32_t library) const { return StackIndex(first_stack.value() + library); }
  const std::string& LibraryOf(const SiteKey& site) const {
    return libraries[site.stack.value() - first_stack.value()];
  }
  bool Has(const SiteKey& site) const { return !libraries.empty() && site.stack >= first_stack; }
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_UNSEEN_MEMORY_H_
