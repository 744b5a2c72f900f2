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

// Tracks memory of CUDA's virtual memory management. Memory from cuMemCreate is freed when its handle has been released
// and its last mapping removed, whichever is later. Its free is therefore deferred until then. Thread-compatible.
class MappedMemory {
 public:
  using Name = AllocationName;

  // The memory of a handle.
  struct Created {
    Name name;
    SiteIndex site;
  };

  void OnCreate(Name memory, uint64_t handle, SiteIndex site) { by_handle_[handle] = {memory, site}; }

  // Returns the memory of `handle`; none if it was created before recording began or by another process.
  std::optional<Created> OnMap(Name mapping, uint64_t handle) {
    const auto memory = by_handle_.find(handle);
    if (memory == by_handle_.end()) return std::nullopt;
    mapped_[mapping] = memory->second.name;
    ++memory_[memory->second.name].mappings;
    return memory->second;
  }

  // Returns true if the memory is still mapped. Its free is then deferred until OnUnmap returns it.
  bool OnRelease(Name memory, const LiveAllocation& allocation) {
    const auto by_handle = by_handle_.find(allocation.address());
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

  // Returns the memory that is freed by the end of `mapping`; none if it is still in use.
  std::optional<NamedAllocation> OnUnmap(Name mapping) {
    const auto mapped = mapped_.find(mapping);
    if (mapped == mapped_.end()) return std::nullopt;
    const auto memory = memory_.find(mapped->second);
    mapped_.erase(mapped);
    if (memory == memory_.end() || --memory->second.mappings > 0 || !memory->second.released) return std::nullopt;
    NamedAllocation ended = {memory->first, *memory->second.released};
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

  // Removes all memory of `device` whose free is deferred, and returns it.
  std::vector<NamedAllocation> RemoveDevice(DeviceIndex device) {
    std::vector<NamedAllocation> ended;
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
  absl::flat_hash_map<Name, Memory> memory_;  // only memory that has been mapped
  absl::flat_hash_map<Name, Name> mapped_;    // mapping to memory
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_MAPPED_MEMORY_H_
