// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_INDICES_H_
#define ANALYZER_BASE_INDICES_H_

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "analyzer/base/index.h"

namespace vramtrack {

// A distinct stack of TracedStacks; the libraries of UnseenMemory are behind those of the trace. What the trace itself
// calls a stack is a plain number.
using StackIndex = Index<struct StackTag>;
inline constexpr StackIndex kEmptyStack(0);

// Into Trace::threads(); what the trace itself calls a thread is a plain number. Memory that no hooked event tells of
// is behind all threads.
using ThreadSlot = Index<struct ThreadTag>;

// Which allocation: the thread that made it, and which one of its allocations it is.
using AllocationName = std::pair<ThreadSlot, uint64_t>;

// A device by the number that the job knows it by.
using DeviceIndex = Index<struct DeviceTag>;
// In place of a device: the host's memory. It is behind all devices.
inline constexpr DeviceIndex kHost = DeviceIndex::None();
// A device's number is a byte wherever this project writes it.
inline constexpr uint32_t kMaxDevice = 255;
// As a report has it: none for the host.
constexpr std::optional<uint32_t> NumberOf(DeviceIndex device) {
  return device == kHost ? std::nullopt : std::optional<uint32_t>(device.value());
}

// Into Ledger::sites(). All replays of one trace number sites alike.
using SiteIndex = Index<struct SiteTag>;

static_assert(sizeof(SiteIndex) == sizeof(uint32_t) && std::is_trivially_copyable_v<SiteIndex>, "as cheap as a number");
static_assert(!std::is_convertible_v<uint32_t, SiteIndex> && !std::is_convertible_v<StackIndex, SiteIndex>,
              "nothing else is taken for a site");

}  // namespace vramtrack

#endif  // ANALYZER_BASE_INDICES_H_
