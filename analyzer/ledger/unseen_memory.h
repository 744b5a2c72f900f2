// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_UNSEEN_MEMORY_H_
#define ANALYZER_LEDGER_UNSEEN_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/site_table.h"

namespace vramtrack {

// Memory that the driver gave out and no hooked event tells of. It has no stack: in its place stands the library that
// asked for it, so that each library is a site of its own for each kind and device.
struct UnseenMemory {
  struct Change {
    uint64_t ticks = 0;
    uint64_t ordinal = 0;  // of the allocation
    bool born = false;     // otherwise it is given back
    uint32_t kind = 0;
    DeviceIndex device;
    uint32_t library = 0;  // index
    uint64_t address = 0, bytes = 0;
  };

  std::vector<std::string> libraries;    // names of files, "" where nobody knows
  std::vector<Change> changes;           // by time; an allocation comes before its end
  StackIndex first_stack = kEmptyStack;  // sites' stacks from here on are libraries: as many stacks the trace has
  // Of what becomes of this memory nobody heard so much, 0 to 1.
  double lost_share = 0;

  StackIndex StackOf(uint32_t library) const { return StackIndex(first_stack.value() + library); }
  const std::string& LibraryOf(const SiteKey& site) const {
    return libraries[site.stack.value() - first_stack.value()];
  }
  bool Has(const SiteKey& site) const { return !libraries.empty() && site.stack >= first_stack; }
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_UNSEEN_MEMORY_H_
