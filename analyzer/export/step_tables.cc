// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/export/site_names.h"
#include "analyzer/export/tables.h"
#include "analyzer/job/site_id.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/profile/make_step_profile.h"

namespace vramtrack {
namespace {

// Lowest and highest within a step.
struct Range {
  uint64_t low = 0, high = 0;

  void Begin(uint64_t bytes) { low = high = bytes; }
  void Take(uint64_t bytes) {
    low = std::min(low, bytes);
    high = std::max(high, bytes);
  }
};

struct StepRow {
  uint64_t step = 0;
  bool is_window = false;
  double begin_seconds = 0, end_seconds = 0;
  std::optional<uint32_t> device;  // none: the host
  Ledger::Levels end;
  Range device_used, reserved, live;
  uint64_t allocations = 0, frees = 0, bytes_allocated = 0, bytes_freed = 0;

  void Put(TableRows* columns) const {
    TableRows& column = *columns;
    column("step", step);
    column("unit", std::string_view(is_window ? "window" : "step"));
    column("begin_seconds", begin_seconds);
    column("end_seconds", end_seconds);
    column("device", device);
    column("live", end.live);
    column("reserved", end.reserved);
    column("device_used", end.device_used);
    column("live_low", live.low);
    column("live_high", live.high);
    column("reserved_low", reserved.low);
    column("reserved_high", reserved.high);
    column("device_used_low", device_used.low);
    column("device_used_high", device_used.high);
    column("allocations", allocations);
    column("frees", frees);
    column("bytes_allocated", bytes_allocated);
    column("bytes_freed", bytes_freed);
  }
};

// Follows a replay and makes a row of each complete step and device. Counts are those of the level that `live` is
// about, or of the one that is asked for.
class StepRows final : public ReplayObserver {
 public:
  StepRows(const ExportedProcess& process, TableWriter* table) : process_(process), table_(*table) {}

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Count(allocated.allocation.site, allocated.objects, allocated.allocation.bytes, true);
  }
  void OnFree(const ReplayAllocation& freed) override {
    Count(freed.allocation.site, freed.objects, freed.allocation.bytes, false);
  }

  void OnStepEnd(uint32_t step) override {
    const bool wanted = process_.IsInSpan(step);
    const TickClock& clock = process_.trace().clock();
    const double end = clock.Seconds(ledger_->last_ticks());
    const StepClock& steps = ledger_->steps();
    Track(ledger_->scopes().size());
    for (size_t i = 0; i < ledger_->scopes().size(); ++i) {
      const Scope& scope = ledger_->scopes()[i];
      if (!IsShown(scope)) continue;
      StepRow& row = rows_[i];
      row.step = step < steps.numbers().size() ? steps.numbers()[step] : step;
      row.is_window = steps.plan().has_windows();
      row.begin_seconds = begin_seconds_;
      row.end_seconds = end;
      row.device = NumberOf(scope.device);
      row.end = ledger_->LevelsOf(scope);
      if (wanted) table_.Add(row);
      Begin(scope, &row);
    }
    begin_seconds_ = end;
  }

 private:
  static bool IsShown(const Scope& scope) { return scope.is_total(); }

  void Track(size_t scopes) {
    while (rows_.size() < scopes) rows_.emplace_back();
  }
  void Begin(const Scope& scope, StepRow* row) const {
    const Ledger::Levels levels = ledger_->LevelsOf(scope);
    *row = {};
    row->live.Begin(levels.live);
    row->reserved.Begin(levels.reserved);
    row->device_used.Begin(levels.device_used);
  }

  void Count(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) {
    const uint32_t changed = ledger_->sites()[site].scope;
    if (changed == Site::kNoScope) return;
    const Scope& scope = ledger_->scopes()[changed];
    const uint32_t shown = IsShown(scope) ? changed : scope.other_level;
    Track(ledger_->scopes().size());
    StepRow& row = rows_[shown];
    const Ledger::Levels levels = ledger_->LevelsOf(scope);
    row.live.Take(levels.live);
    row.reserved.Take(levels.reserved);
    row.device_used.Take(levels.device_used);
    if (!IsCounted(scope, changed == shown)) return;
    (born ? row.allocations : row.frees) += objects;
    (born ? row.bytes_allocated : row.bytes_freed) += bytes;
  }
  bool IsCounted(const Scope& scope, bool leads) const {
    const ExportOptions::Levels levels = process_.options().levels;
    return levels == ExportOptions::Levels::kAll ? leads : IsWanted(scope.level, levels);
  }

  const ExportedProcess& process_;
  TableWriter& table_;
  const Ledger* ledger_ = nullptr;
  std::vector<StepRow> rows_;  // of the present step, by scope
  double begin_seconds_ = 0;
};

void AddSteps(ExportedProcess* process, TableWriter* table) {
  StepRows rows(*process, table);
  process->Replay({&rows});
}

// What a site did in some steps that follow each other.
struct WindowRow {
  const StepProfile& profile = kNone<StepProfile>;
  const ProfileSite& site = kNone<ProfileSite>;
  std::string id;
  Level level = Level::kDriver;
  size_t window = 0;
  uint64_t live_objects = 0, live_bytes = 0;  // when it ends

  void Put(TableRows* columns) const {
    TableRows& column = *columns;
    const WindowSteps steps = window < profile.window_steps.size() ? profile.window_steps[window] : WindowSteps();
    const SiteWindow sums = site.windows.At(window);
    column("site", id);
    column("level", level);
    column("kind", std::string_view(KindName(site.kind)));
    column("device", site.device);
    column("category", OrNull(site.category));
    column("verdict", site.verdict);
    column("window", window);
    column("first_step", steps.first);
    column("last_step", steps.last);
    column("births", sums.births);
    column("born_bytes", sums.born_bytes);
    column("deaths", sums.deaths);
    column("died_bytes", sums.died_bytes);
    column("survivors", sums.survivors);
    column("survivor_bytes", sums.survivor_bytes);
    column("live_objects", live_objects);
    column("live_bytes", live_bytes);
  }
};

void AddProfile(const StepProfile& profile, const std::vector<ReportSite>& reported, TableWriter* table) {
  SiteIds ids(reported);
  for (const ProfileSite& site : profile.sites) {
    const ReportSite outline = SiteOutline(site.kind, site.segments, site.device, site.frames);
    WindowRow row = {profile, site, ids.IdOf(outline), outline.level};
    for (; row.window < site.windows.sums.size(); ++row.window) {
      const SiteWindow& sums = site.windows.sums[row.window];
      row.live_objects += sums.births - sums.deaths;
      row.live_bytes += sums.born_bytes - sums.died_bytes;
      // A site that has nothing and does nothing has no row.
      if (sums.births + sums.deaths + row.live_objects > 0) table->Add(row);
    }
  }
}

void AddWindows(ExportedProcess* process, TableWriter* table) {
  AddProfile(MakeStepProfile(&process->analysis()), ReportedSites(process->analysis()), table);
}

void AddSummaryWindows(const ProcessSummary& summary, TableWriter* table) {
  AddProfile(summary.profile, summary.findings.sites, table);
}

}  // namespace

const ExportTable kStepTable = {"steps", DeclareColumns<StepRow>, AddSteps, nullptr};
const ExportTable kWindowTable = {"windows", DeclareColumns<WindowRow>, AddWindows, AddSummaryWindows};

}  // namespace vramtrack
