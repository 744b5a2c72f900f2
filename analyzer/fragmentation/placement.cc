// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/placement.h"

#include <algorithm>
#include <functional>

namespace vramtrack {
namespace {

struct Placed {
  uint64_t begin, end;
  const Lifetime* lifetime;
};

// Each at the lowest address that is free throughout its life.
uint64_t PlaceInOrder(const std::vector<const Lifetime*>& order) {
  std::vector<Placed> placed;  // by address
  uint64_t height = 0;
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
    height = std::max(height, entry.end);
  }
  return height;
}

}  // namespace

uint64_t BestPlacement(const std::vector<Lifetime>& lifetimes) {
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
  uint64_t best = UINT64_MAX;
  for (const auto& first : kFirst) {
    std::stable_sort(order.begin(), order.end(),
                     [&first](const Lifetime* a, const Lifetime* b) { return first(a) > first(b); });
    best = std::min(best, PlaceInOrder(order));
  }
  return best;
}

}  // namespace vramtrack
