// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_INDICES_H_
#define ANALYZER_BASE_INDICES_H_

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "analyzer/base/index.h"

namespace vramtrack {

// A distinct stack of TracedStacks. The libraries of UnseenMemory come after the stacks of the trace. The trace's own
// numbers of stacks are plain integers.
using StackIndex = Index<struct StackTag>;
inline constexpr StackIndex kEmptyStack(0);

// An index into Trace::threads(). The trace's own numbers of threads are plain integers. Memory that no hooked event
// reports has a slot after all threads.
using ThreadSlot = Index<struct ThreadTag>;

// The identity of an allocation: the thread that made it, and its number among the allocations of that thread.
using AllocationName = std::pair<ThreadSlot, uint64_t>;

// A device, by the number that the job uses for it.
using DeviceIndex = Index<struct DeviceTag>;
// Stands for host memory in place of a device. It is greater than all devices.
inline constexpr DeviceIndex kHost = DeviceIndex::None();
// The highest device number. Traces and summaries store it in a byte.
inline constexpr uint32_t kMaxDevice = 255;
// Returns the device's number as reports have it; none for the host.
constexpr std::optional<uint32_t> NumberOf(DeviceIndex device) {
  return device == kHost ? std::nullopt : std::optional<uint32_t>(device.value());
}

// An index into Ledger::sites(). All replays of one trace number sites alike.
using SiteIndex = Index<struct SiteTag>;

// A path of Python names, an index into HolderPaths.
using HolderPathIndex = Index<struct HolderPathTag>;

static_assert(sizeof(SiteIndex) == sizeof(uint32_t) && std::is_trivially_copyable_v<SiteIndex>, "as cheap as a number");
static_assert(!std::is_convertible_v<uint32_t, SiteIndex> && !std::is_convertible_v<StackIndex, SiteIndex>,
              "nothing else is taken for a site");

}  // namespace vramtrack

#endif  // ANALYZER_BASE_INDICES_H_
