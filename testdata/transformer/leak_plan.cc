// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/leak_plan.h"

#include <algorithm>
#include <cinttypes>
#include <utility>

namespace transformer {
namespace {

struct NamedLeak {
  Leak leak;
  const char* name;
};

constexpr NamedLeak kLeaks[] = {
    {Leak::kLossGraph, "loss-graph"},
    {Leak::kAttentionCache, "attention-cache"},
    {Leak::kKvCache, "kv-cache"},
    {Leak::kBatchReferences, "batch-references"},
    {Leak::kGradientBuffers, "gradient-buffers"},
    {Leak::kWorkspace, "workspace"},
    {Leak::kPinnedStaging, "pinned-staging"},
};

// Whole where it is whole: a leak every third step need not be.
std::string PerStep(uint64_t bytes, uint64_t steps) {
  char text[64];
  if (bytes % steps == 0) {
    std::snprintf(text, sizeof text, "%" PRIu64, bytes / steps);
  } else {
    std::snprintf(text, sizeof text, "%.3f", static_cast<double>(bytes) / static_cast<double>(steps));
  }
  return text;
}

}  // namespace

const char* LeakName(Leak leak) {
  for (const NamedLeak& named : kLeaks) {
    if (named.leak == leak) return named.name;
  }
  return "?";
}

std::vector<Leak> AllLeaks() {
  std::vector<Leak> all;
  for (const NamedLeak& named : kLeaks) all.push_back(named.leak);
  return all;
}

LeakPlan::LeakPlan(std::vector<Leak> leaks, uint64_t every, uint64_t onset)
    : leaks_(std::move(leaks)), every_(every), onset_(onset) {}

void LeakPlan::BeginStep(uint64_t step) { step_ = step; }

bool LeakPlan::Due(Leak leak) const {
  if (step_ < onset_ || (step_ - onset_) % every_ != 0) return false;
  return std::find(leaks_.begin(), leaks_.end(), leak) != leaks_.end();
}

void LeakPlan::Record(Leak leak, size_t bytes, SourceLine where) { noted_[{leak, where.file, where.line}] += bytes; }

uint64_t LeakPlan::bytes_noted(Leak leak) const {
  uint64_t bytes = 0;
  for (const auto& [key, noted] : noted_) {
    if (std::get<Leak>(key) == leak) bytes += noted;
  }
  return bytes;
}

void LeakPlan::Print(uint64_t steps, std::FILE* out) const {
  for (const NamedLeak& named : kLeaks) {
    const uint64_t total = bytes_noted(named.leak);
    if (total == 0) continue;
    for (const auto& [key, bytes] : noted_) {
      const auto& [leak, file, line] = key;
      if (leak != named.leak) continue;
      std::fprintf(out, "planted leak: %s %s:%d %s bytes/step\n", named.name, file.c_str(), line,
                   PerStep(bytes, steps).c_str());
    }
    std::fprintf(out, "planted total: %s %s bytes/step\n", named.name, PerStep(total, steps).c_str());
  }
}

}  // namespace transformer
