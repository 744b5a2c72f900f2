// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/growth_ledger.h"

#include <algorithm>
#include <utility>

#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

// Levels of a site are thinned out when there are so many of them: bins, and what is not binned yet.
constexpr size_t kMostRuns = 2 * GrowthLedger::kMostBins;

// What a site adds to its book. Segments of a framework's allocator hold what its blocks hold, but for what is kept for
// a CUDA graph and cannot be used for anything else.
HeldLevel HeldBy(const Site& site, const Ledger& ledger) {
  const auto objects = static_cast<uint32_t>(std::min<uint64_t>(site.live_objects, UINT32_MAX));
  // Address space in which a framework's allocator maps its segments goes with them.
  if (site.scope == Site::kNoScope && IsSegmentSite(site)) return {};
  if (site.scope == Site::kNoScope || ledger.scopes()[site.scope].is_total()) return {site.live_bytes, objects};
  const uint64_t bytes = site.live_bytes - std::min(site.live_bytes, site.segment_bytes) + site.kept_for_graphs;
  return {bytes, bytes > 0 ? objects : 0};
}

}  // namespace

uint32_t GrowthLedger::FindBook(const Site& site) {
  Book book;
  if (site.scope != Site::kNoScope) {
    book.of = ledger_->scopes()[site.scope].device == kHost ? Book::Of::kHost : Book::Of::kDevice;
    book.device = ledger_->scopes()[site.scope].device;
  } else if (IsForeignMemory(site.key.kind)) {
    book.of = Book::Of::kForeign;
    book.device = site.key.device;
  } else {
    book.of = Book::Of::kHandles;
  }
  for (uint32_t i = 0; i < books_of_.size(); ++i) {
    if (books_of_[i] == book) return i;
  }
  books_of_.push_back(book);
  totals_.emplace_back();
  // Until now there was nothing.
  while (totals_.back().floors.size() < ledger_->steps().step()) EndStep(&totals_.back());
  return static_cast<uint32_t>(books_of_.size() - 1);
}

void GrowthLedger::Move(SiteIndex index, const Site& site) {
  sites_.GrowTo(index);
  Entry& entry = sites_[index];
  if (__builtin_expect(entry.book == kNoBook, 0)) {
    entry.book = FindBook(site);
    if (entry.book == kNoBook) return;
    entry.step = ledger_->steps().step();
  }
  Total& total = totals_[entry.book];
  if (entry.step != ledger_->steps().step()) {
    NotePast(&entry);
    entry.step = ledger_->steps().step();
    if (entry.runs.size() > kMostRuns) Thin(total, &entry.runs);
  }
  if (entry.moment != total.moment) {
    entry.moment = total.moment;
    entry.at_moment = entry.held;
  }
  const HeldLevel held = HeldBy(site, *ledger_);
  total.held += books_of_[entry.book].in_bytes() ? held.bytes - entry.held.bytes : held.objects - entry.held.objects;
  entry.held = held;
  unsettled_ = entry.book;
}

void GrowthLedger::Append(Step step, HeldLevel level, std::vector<Run>* runs) {
  if (level == (runs->empty() ? HeldLevel() : runs->back().level())) return;
  runs->push_back({level.bytes, level.objects, step});
}

void GrowthLedger::NotePast(Entry* entry) const {
  const Total& total = totals_[entry->book];
  const bool known = entry->moment == total.moments[entry->step];
  Append(entry->step, known ? entry->at_moment : entry->held, &entry->runs);
  if (entry->step + 1 < total.floors.size()) Append(entry->step + 1, entry->held, &entry->runs);
}

Step GrowthLedger::QuietestOf(const Total& total, Step begin, Step end) {
  return static_cast<Step>(std::min_element(total.floors.begin() + begin, total.floors.begin() + end) -
                           total.floors.begin());
}

// Keeps the levels at the quietest steps: of whole bins, and of the halves, quarters and so on of the bin that is not
// complete, as one of these steps will be its quietest.
void GrowthLedger::Thin(const Total& total, std::vector<Run>* runs) const {
  std::vector<Step> kept = total.quietest;
  Step begin = static_cast<Step>(kept.size()) * total.bin_steps;
  for (Step width = total.bin_steps / 2; width > 0; width /= 2) {
    if (begin + width > total.floors.size()) continue;
    kept.push_back(QuietestOf(total, begin, begin + width));
    begin += width;
  }
  const std::vector<Run> fine = std::exchange(*runs, {});
  size_t next = 0;
  HeldLevel at;
  for (const Step step : kept) {
    while (next < fine.size() && fine[next].step <= step) at = fine[next++].level();
    Append(step, at, runs);
  }
}

void GrowthLedger::EndStep(Total* total) {
  total->floors.push_back(total->least);
  total->moments.push_back(total->moment++);
  total->least = total->held;
  const auto steps = static_cast<Step>(total->floors.size());
  if (steps % total->bin_steps != 0) return;
  total->quietest.push_back(QuietestOf(*total, steps - total->bin_steps, steps));
  if (total->quietest.size() <= kMostBins) return;
  total->bin_steps *= 2;
  const std::vector<Step> fine = std::exchange(total->quietest, {});
  for (size_t i = 0; i + 1 < fine.size(); i += 2) {
    total->quietest.push_back(total->floors[fine[i + 1]] < total->floors[fine[i]] ? fine[i + 1] : fine[i]);
  }
}

BookLevels GrowthLedger::LevelsOf(uint32_t book) const {
  const Total& total = totals_[book];
  BookLevels levels;
  levels.bin_steps = total.bin_steps;
  levels.steps = total.quietest;
  const Step whole = static_cast<Step>(levels.steps.size()) * total.bin_steps;
  if (whole < total.floors.size())
    levels.steps.push_back(QuietestOf(total, whole, static_cast<Step>(total.floors.size())));
  for (const Step step : levels.steps) levels.of_book.push_back(total.floors[step]);
  return levels;
}

std::vector<HeldLevel> GrowthLedger::LevelsOf(SiteIndex site) const {
  std::vector<HeldLevel> levels;
  if (BookOf(site) == kNoBook) return levels;
  Entry entry = sites_[site];
  const Total& total = totals_[entry.book];
  if (entry.step < total.floors.size()) NotePast(&entry);
  if (entry.runs.empty()) return levels;
  size_t next = 0;
  HeldLevel at;
  for (const Step step : LevelsOf(entry.book).steps) {
    while (next < entry.runs.size() && entry.runs[next].step <= step) at = entry.runs[next++].level();
    levels.push_back(at);
  }
  return levels;
}

}  // namespace vramtrack
