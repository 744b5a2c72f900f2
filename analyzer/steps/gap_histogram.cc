// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/gap_histogram.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vramtrack {
namespace {

constexpr int kBinBits = 4;  // 16 bins for each power of two

uint32_t BinOf(uint64_t gap) {
  constexpr uint64_t kExact = uint64_t{1} << (kBinBits + 1);
  if (gap < kExact) return static_cast<uint32_t>(gap);
  const int power = 63 - __builtin_clzll(gap);
  const int shift = power - kBinBits;
  return static_cast<uint32_t>(shift << kBinBits) + static_cast<uint32_t>(gap >> shift);
}

}  // namespace

void GapHistogram::Add(uint64_t gap) {
  const uint32_t index = BinOf(gap);
  auto bin = std::lower_bound(bins_.begin(), bins_.end(), index, [](const Bin& a, uint32_t i) { return a.index < i; });
  if (bin == bins_.end() || bin->index != index) bin = bins_.insert(bin, Bin{index, 0, 0});
  ++bin->count;
  bin->sum += gap;
  ++count_;
}

double GapHistogram::Median() const {
  uint64_t seen = 0;
  for (const Bin& bin : bins_) {
    seen += bin.count;
    if (seen > count_ / 2) return bin.Mean();
  }
  return 0;
}

double GapHistogram::DeviationQuantile(double centre, double quantile) const {
  std::vector<std::pair<double, uint32_t>> deviations;
  for (const Bin& bin : bins_) deviations.emplace_back(std::fabs(bin.Mean() - centre), bin.count);
  std::sort(deviations.begin(), deviations.end());
  const auto rank = static_cast<uint64_t>(quantile * static_cast<double>(count_));
  uint64_t seen = 0;
  for (const auto& [deviation, count] : deviations) {
    seen += count;
    if (seen > rank) return deviation / std::max(1.0, centre);
  }
  return 0;
}

double GapHistogram::MeanLogDeviation(double centre) const {
  double sum = 0;
  for (const Bin& bin : bins_) sum += bin.count * std::fabs(std::log(std::max(bin.Mean(), 0.5) / centre));
  return count_ > 0 ? sum / static_cast<double>(count_) : 0;
}

}  // namespace vramtrack
