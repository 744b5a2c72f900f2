// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_MAPPED_MEMORY_H_
#define ANALYZER_LEDGER_MAPPED_MEMORY_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/live_table.h"

namespace vramtrack {

// Virtual memory management: memory from cuMemCreate lives until its handle is released and its last mapping is gone,
// whichever comes later, so its free is put off until then. Thread-compatible.
class MappedMemory {
 public:
  using Name = AllocationName;

  struct Ended {
    Name name;
    LiveAllocation allocation;
  };

  // What a handle stands for.
  struct Created {
    Name name;
    SiteIndex site;
  };

  void OnCreate(Name memory, uint64_t handle, SiteIndex site) { by_handle_[handle] = {memory, site}; }

  // The memory; none if it was created before recording began, or by another process.
  std::optional<Created> OnMap(Name mapping, uint64_t handle) {
    const auto memory = by_handle_.find(handle);
    if (memory == by_handle_.end()) return std::nullopt;
    mapped_[mapping] = memory->second.name;
    ++memory_[memory->second.name].mappings;
    return memory->second;
  }

  // True: still mapped, and kept here until it is not.
  bool OnRelease(Name memory, const LiveAllocation& allocation) {
    const auto by_handle = by_handle_.find(allocation.address);
    if (by_handle != by_handle_.end() && by_handle->second.name == memory) by_handle_.erase(by_handle);
    const auto found = memory_.find(memory);
    if (found == memory_.end()) return false;
    if (found->second.mappings == 0) {
      memory_.erase(found);
      return false;
    }
    found->second.released = allocation;
    return true;
  }

  // The memory that ends with this mapping, if it does.
  std::optional<Ended> OnUnmap(Name mapping) {
    const auto mapped = mapped_.find(mapping);
    if (mapped == mapped_.end()) return std::nullopt;
    const auto memory = memory_.find(mapped->second);
    mapped_.erase(mapped);
    if (memory == memory_.end() || --memory->second.mappings > 0 || !memory->second.released) return std::nullopt;
    Ended ended = {memory->first, *memory->second.released};
    memory_.erase(memory);
    return ended;
  }

  // Calls `visit` for each allocation whose handle is released while it is still mapped, in no particular order.
  template <typename Visit>
  void ForEachReleased(Visit visit) const {
    for (const auto& [name, memory] : memory_) {
      if (memory.released) visit(*memory.released);
    }
  }

  // Ends all that is put off on a device.
  std::vector<Ended> RemoveDevice(DeviceIndex device) {
    std::vector<Ended> ended;
    for (auto it = memory_.begin(); it != memory_.end();) {
      const auto entry = it++;
      if (!entry->second.released || entry->second.released->device() != device) continue;
      ended.push_back({entry->first, *entry->second.released});
      memory_.erase(entry);
    }
    return ended;
  }

 private:
  struct Memory {
    uint32_t mappings = 0;
    std::optional<LiveAllocation> released;
  };
  absl::flat_hash_map<uint64_t, Created> by_handle_;
  absl::flat_hash_map<Name, Memory> memory_;  // that has been mapped
  absl::flat_hash_map<Name, Name> mapped_;    // mapping to memory
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_MAPPED_MEMORY_H_
