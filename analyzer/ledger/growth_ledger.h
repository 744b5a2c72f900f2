// SPDX-License-Identifier: Apache-2.0
//
// Who holds what at the quietest moment of each step: the moment at which the ledger as a whole holds least. Live bytes
// are a sum, so at each of these moments the levels of all sites add up to the level of the ledger, and the growth of a
// device is the sum of the growth of its sites, to the byte.
#ifndef ANALYZER_LEDGER_GROWTH_LEDGER_H_
#define ANALYZER_LEDGER_GROWTH_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// A ledger of growth: what is added up. Memory of other processes that is mapped here is apart, as it is theirs.
struct Book {
  enum class Of : uint8_t { kDevice, kHost, kForeign, kHandles };  // kHost: pinned memory
  Of of = Of::kDevice;
  DeviceIndex device = kHost;  // kDevice, kForeign
  bool in_bytes() const { return of != Of::kHandles; }
  friend bool operator==(const Book& a, const Book& b) { return a.of == b.of && a.device == b.device; }
};

struct HeldLevel {
  uint64_t bytes = 0;
  uint32_t objects = 0;
  friend bool operator==(const HeldLevel& a, const HeldLevel& b) {
    return a.bytes == b.bytes && a.objects == b.objects;
  }
};

// Levels at the quietest moments, in bins of equally many steps from step 0 on; of a bin, those of its quietest step.
// The last bin may be shorter. Levels of one book are of the same moments, so they may be added.
struct BookLevels {
  Step bin_steps = 1;
  std::vector<Step> steps;        // the quietest step of each bin
  std::vector<uint64_t> of_book;  // bytes; handles by number
};

// Follows a replay. Memory: 256 bins a site at most, for sites that hold something at quiet moments; 16 bytes a step
// and book. An event takes constant time. Ask after the replay. Thread-compatible.
class GrowthLedger final : public ReplayObserver {
 public:
  static constexpr uint32_t kNoBook = UINT32_MAX;
  static constexpr size_t kMostBins = 256;

  const std::vector<Book>& books() const { return books_of_; }
  // Returns the index of a site's book; kNoBook for sites without an event.
  uint32_t BookOf(SiteIndex site) const { return sites_.Has(site) ? sites_[site].book : kNoBook; }
  // Returns what a book held at its quietest moments.
  BookLevels LevelsOf(uint32_t book) const;
  // Returns what a site held at the quietest moments of its book, one level a bin of LevelsOf(BookOf(site)). Empty if
  // it never held anything then.
  std::vector<HeldLevel> LevelsOf(SiteIndex site) const;
  // Returns how often the site's level changed between quiet moments, at most.
  size_t changes(SiteIndex site) const { return sites_.Has(site) ? sites_[site].runs.size() : 0; }

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override { Update(allocated.allocation.site, allocated.site); }
  void OnFree(const ReplayAllocation& freed) override { Update(freed.allocation.site, freed.site); }
  void OnSegments(SiteIndex site) override { Move(site, ledger_->sites()[site]); }
  void OnStepEnd(uint32_t /*step*/) override {
    for (Total& total : totals_) EndStep(&total);
  }

 private:
  // The level from the quietest moment of `step` on. Flat, as there are many.
  struct Run {
    uint64_t bytes = 0;
    uint32_t objects = 0;
    Step step = 0;
    HeldLevel level() const { return {bytes, objects}; }
  };
  struct Entry {
    uint32_t book = kNoBook;
    uint32_t moment = 0;  // the moment of the book for which at_moment is known
    Step step = 0;        // of the last change
    HeldLevel held, at_moment;
    std::vector<Run> runs;
  };
  struct Total {
    uint64_t held = 0, least = 0;
    uint32_t moment = 1;            // counts quietest moments so far
    std::vector<uint64_t> floors;   // of each complete step
    std::vector<uint32_t> moments;  // of each complete step
    Step bin_steps = 1;
    std::vector<Step> quietest;  // of each complete bin
  };

  // After an event: changes a site's level, and looks whether this is the book's quietest moment of the step.
  void Update(SiteIndex site, const Site& of) {
    Move(site, of);
    for (; unsettled_ != kNoBook; unsettled_ = kNoBook) Settle(&totals_[unsettled_]);
  }
  void Move(SiteIndex site, const Site& of);
  static void Settle(Total* total) {
    if (total->held >= total->least) return;
    total->least = total->held;
    ++total->moment;
  }
  uint32_t FindBook(const Site& site);
  static void EndStep(Total* total);
  void NotePast(Entry* entry) const;  // notes the levels of the steps since the site's last change
  static void Append(Step step, HeldLevel level, std::vector<Run>* runs);
  void Thin(const Total& total, std::vector<Run>* runs) const;
  static Step QuietestOf(const Total& total, Step begin, Step end);

  const Ledger* ledger_ = nullptr;
  IndexedVector<SiteIndex, Entry> sites_;
  std::vector<Book> books_of_;
  std::vector<Total> totals_;
  uint32_t unsettled_ = kNoBook;  // the book that the present event has changed
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_GROWTH_LEDGER_H_
