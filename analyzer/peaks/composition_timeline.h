// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_COMPOSITION_TIMELINE_H_
#define ANALYZER_PEAKS_COMPOSITION_TIMELINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/step_curve.h"
#include "analyzer/peaks/timeline.h"

namespace vramtrack {

// The composition of a device's live bytes at their highest, in each bin of a LevelTimeline and within the step that
// reached the peak: by category, and by a few groups of sites. The values of a bin are of one moment, so that they add
// up; the lowest and highest values of several series would not, and are there as well. Also follows the sum within all
// steps. Follows a second replay. Memory is bounded by the number of bins. Thread-compatible.
class CompositionTimeline final : public ReplayObserver {
 public:
  static constexpr size_t kMaxGroups = 12;
  static constexpr size_t kMaxStepBins = 1000;

  struct Bin {
    uint64_t live = 0;                 // the sum of `categories`
    std::vector<uint64_t> categories;  // bytes
    std::array<uint64_t, kMaxGroups> groups{};
  };
  // What a category held within a bin.
  struct Extent {
    uint64_t low = 0, high = 0;
  };
  // Bins within a step. Each begins with an allocation or free: its number within the step, and its time in ticks.
  struct StepBins {
    std::vector<uint64_t> events, ticks;
    std::vector<Bin> bins;
  };

  // `first`: the trace's first replay; `levels`: its timeline, which must outlive it. `count`: of categories, those of
  // a user's rules included. `groups`: for each scope at most kMaxGroups disjoint sets of sites. Follows only the
  // scopes of a report's timeline: leading ones and the host's.
  CompositionTimeline(const Ledger& first, const IndexedVector<SiteIndex, Category>& categories, size_t count,
                      const std::map<uint32_t, std::vector<std::vector<SiteIndex>>>& groups,
                      const LevelTimeline& levels);

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Change(allocated.allocation.site, allocated.allocation.bytes, true);
  }
  void OnFree(const ReplayAllocation& freed) override {
    Change(freed.allocation.site, 0 - freed.allocation.bytes, false);
  }
  void OnStepEnd(uint32_t step) override;

  // Returns as many bins as the first replay's timeline has; empty for a scope that is not followed.
  std::vector<Bin> Bins(uint32_t scope) const;
  // The same for one category; empty also for a category that never had live bytes.
  std::vector<Extent> Extents(uint32_t scope, Category category) const;
  // Returns the bytes live now; 0 for scopes that are not followed.
  uint64_t Live(uint32_t scope, Category category) const;
  // Returns the bins of the step that reached the scope's peak; empty if there are no steps.
  StepBins BinsOfPeakStep(uint32_t scope) const;
  // Returns the live bytes within the steps; null for scopes that are not followed, or if the timeline has no steps.
  const StepCurve* CurveOf(uint32_t scope) const;

 private:
  static constexpr uint16_t kNoRow = UINT16_MAX;
  static constexpr uint8_t kNoGroup = UINT8_MAX;

  struct Place {
    uint16_t row = kNoRow;
    Category category = Category::kOther;
    uint8_t group = kNoGroup;
  };
  // Each bin keeps its highest moment. A rise ends when the sum falls, so its composition is copied once for many
  // allocations.
  struct HighBins {
    std::vector<Bin> bins;
    bool rising = false;  // the present bin is the highest of the last one, and is not stored in it yet

    void Raise(const Bin& now) {
      if (now.live <= bins.back().live) return;
      bins.back().live = now.live;
      rising = true;
    }
    void EndRise(const Bin& now) {
      if (rising) bins.back() = now;
      rising = false;
    }
  };
  struct Row {
    bool followed = false;
    Bin now;
    HighBins run;
    std::vector<std::vector<Extent>> extents;  // by category; empty until its first allocation
    uint32_t peak_step = UINT32_MAX;
    uint64_t step_events = 0, step_width = 1;
    HighBins step;
    std::vector<uint64_t> step_begins, step_ticks;  // of the bins of `step`
    StepCurve curve;
  };

  // `bytes` is added to the sum; for a free it is 0 - bytes.
  void Change(SiteIndex site, uint64_t bytes, bool born);
  void ChangeCategory(size_t category, uint64_t bytes, Row* row);
  void BeginStepBin(Row* row);
  void MoveTo(uint64_t position);

  const Ledger* ledger_ = nullptr;
  IndexedVector<SiteIndex, Place> places_;
  const LevelTimeline& levels_;
  std::vector<Row> rows_;  // by scope
  size_t bin_ = 0;         // index of the current bin
  uint64_t bin_end_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_COMPOSITION_TIMELINE_H_
