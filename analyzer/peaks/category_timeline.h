// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_CATEGORY_TIMELINE_H_
#define ANALYZER_PEAKS_CATEGORY_TIMELINE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/timeline_bins.h"

namespace vramtrack {

// The live bytes of each category on a device: their lowest and highest value in each bin of a LevelTimeline. Follows
// a second replay, as the category of a site is known only after a replay. Memory is bounded by the number of bins.
// Thread-compatible.
class CategoryTimeline final : public ReplayObserver {
 public:
  struct Bin {
    uint64_t low = 0, high = 0;
  };

  // `first`: the trace's first replay; `timeline`: its timeline. Follows only the scopes of a report's timeline:
  // leading ones and the host's.
  CategoryTimeline(const Ledger& first, const IndexedVector<SiteIndex, Category>& categories,
                   const LevelTimeline& timeline);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Change(allocated.allocation.site, allocated.allocation.bytes);
  }
  void OnFree(const ReplayAllocation& freed) override { Change(freed.allocation.site, 0 - freed.allocation.bytes); }
  void OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t bytes, bool born) override {
    Change(site, born ? bytes : 0 - bytes);
  }
  void OnStepEnd(uint32_t step) override {
    if (bins_.FollowStepEnd(step)) BeginBin();
  }

  // Returns the bytes live now; 0 for scopes that are not followed.
  uint64_t Live(uint32_t scope, Category category) const;
  // Returns as many bins as the first replay's timeline has; empty for a category that never had live bytes.
  std::vector<Bin> Bins(uint32_t scope, Category category) const;

 private:
  static constexpr uint16_t kNoRow = UINT16_MAX;

  struct Place {
    uint16_t row = kNoRow;
    Category category = Category::kOther;
  };
  struct Series {
    uint64_t live = 0;
    std::vector<Bin> bins;  // empty until the first allocation
  };
  using Row = std::array<Series, kCategories>;

  // `bytes` is added to the sum; for a free it is 0 - bytes.
  void Change(SiteIndex site, uint64_t bytes) {
    const Place place = places_[site];
    if (place.row == kNoRow) return;
    if (bins_.FollowTime(*ledger_)) BeginBin();
    Series& series = rows_[place.row][static_cast<size_t>(place.category)];
    if (__builtin_expect(series.bins.empty(), 0)) series.bins.resize(bins_.present() + 1);
    series.live += bytes;
    Bin& bin = series.bins.back();
    bin.low = std::min(bin.low, series.live);
    bin.high = std::max(bin.high, series.live);
  }
  void BeginBin();

  const Ledger* ledger_ = nullptr;
  IndexedVector<SiteIndex, Place> places_;
  std::vector<uint16_t> rows_of_scopes_;
  std::vector<Row> rows_;
  TimelineBins bins_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_CATEGORY_TIMELINE_H_
