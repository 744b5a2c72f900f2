// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/step_similarity.h"

#include <algorithm>

namespace vramtrack {
namespace {

// Steps of one kind reach .95 with dynamic shapes and data-dependent branches; a step cut at the wrong place or of
// another kind stays below .5.
constexpr float kMatching = 0.8f;
constexpr float kSettled = 0.9f;
constexpr size_t kSettledSteps = 5;

}  // namespace

void StepSimilarity::Multiset::Clear() {
  for (const uint32_t site : sites) counts[site] = 0;
  sites.clear();
  total = 0;
}

void StepSimilarity::OnEvent(uint32_t site) {
  Multiset& step = recent_[current_];
  if (site >= step.counts.size()) step.counts.resize(size_t{site} + 1 + site / 2, 0);
  if (step.counts[site]++ == 0) step.sites.push_back(site);
  ++step.total;
}

double StepSimilarity::Jaccard(const Multiset& a, const Multiset& b) {
  uint64_t shared = 0;
  for (const uint32_t site : a.sites) shared += std::min(a.counts[site], b.CountOf(site));
  const uint64_t all = a.total + b.total - shared;
  return all > 0 ? static_cast<double>(shared) / static_cast<double>(all) : 1;
}

void StepSimilarity::OnStepEnd() {
  const Multiset& ended = recent_[current_];
  const Multiset& previous = recent_[(current_ + 2) % 3];
  const Multiset& before_that = recent_[(current_ + 1) % 3];
  double similarity = 0;
  if (similarities_.size() >= 1) similarity = Jaccard(ended, previous);
  if (similarities_.size() >= 2) similarity = std::max(similarity, Jaccard(ended, before_that));
  similarities_.push_back(static_cast<float>(similarity));
  current_ = (current_ + 1) % 3;
  recent_[current_].Clear();
}

void StepSimilarity::OnUnknownStepEnd() {
  similarities_.push_back(1);
  for (Multiset& step : recent_) step.Clear();
}

double ShareOfMatchingSteps(const std::vector<float>& similarities) {
  if (similarities.size() <= 2) return 0;
  const auto matching = std::count_if(similarities.begin() + 2, similarities.end(),
                                      [](float similarity) { return similarity >= kMatching; });
  return static_cast<double>(matching) / static_cast<double>(similarities.size() - 2);
}

uint32_t StructureSettled(const std::vector<float>& similarities) {
  size_t alike = 0;
  for (size_t step = 0; step < similarities.size(); ++step) {
    alike = similarities[step] >= kSettled ? alike + 1 : 0;
    if (alike < kSettledSteps) continue;
    // The step before the first of those that are like their predecessors looks like them already.
    const size_t settled = step + 1 - kSettledSteps;
    const size_t first = settled > 0 ? settled - 1 : 0;
    return 4 * first <= similarities.size() ? static_cast<uint32_t>(first) : 0;
  }
  return 0;
}

}  // namespace vramtrack
