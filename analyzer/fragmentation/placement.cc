// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/placement.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace vramtrack {
namespace {

struct Placed {
  uint64_t begin, end;
  const Lifetime* lifetime;
};

// Each at the lowest address that is free throughout its life. `first` is the lifetime that has the first offset.
Placement PlaceInOrder(const std::vector<const Lifetime*>& order, const Lifetime* first, size_t count) {
  std::vector<Placed> placed;  // by address
  Placement placement;
  placement.offsets.resize(count);
  for (const Lifetime* lifetime : order) {
    uint64_t begin = 0;
    for (const Placed& other : placed) {
      if (other.lifetime->death <= lifetime->birth || lifetime->death <= other.lifetime->birth) continue;
      if (other.begin >= begin + lifetime->bytes) break;
      begin = std::max(begin, other.end);
    }
    const Placed entry = {begin, begin + lifetime->bytes, lifetime};
    placed.insert(std::upper_bound(placed.begin(), placed.end(), entry,
                                   [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
                  entry);
    placement.bytes = std::max(placement.bytes, entry.end);
    placement.offsets[static_cast<size_t>(lifetime - first)] = begin;
  }
  return placement;
}

}  // namespace

Placement BestPlacement(const std::vector<Lifetime>& lifetimes) {
  std::vector<const Lifetime*> order;
  for (const Lifetime& lifetime : lifetimes) {
    if (lifetime.birth < lifetime.death && lifetime.bytes > 0) order.push_back(&lifetime);
  }
  const auto length = [](const Lifetime* l) { return static_cast<double>(l->death - l->birth); };
  const auto bytes = [](const Lifetime* l) { return static_cast<double>(l->bytes); };
  const std::function<double(const Lifetime*)> kFirst[] = {
      bytes,
      length,
      [&](const Lifetime* l) { return bytes(l) * length(l); },
      [](const Lifetime* l) { return -static_cast<double>(l->birth); },
  };
  Placement best;
  best.bytes = UINT64_MAX;
  for (const auto& first : kFirst) {
    std::stable_sort(order.begin(), order.end(),
                     [&first](const Lifetime* a, const Lifetime* b) { return first(a) > first(b); });
    Placement placement = PlaceInOrder(order, lifetimes.data(), lifetimes.size());
    if (placement.bytes < best.bytes) best = std::move(placement);
  }
  return best;
}

}  // namespace vramtrack
