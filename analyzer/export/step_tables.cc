// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <deque>
#include <utility>

#include "analyzer/export/findings_table.h"
#include "analyzer/export/site_names.h"
#include "analyzer/export/tables.h"
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
  const TableProcess* process;
  uint64_t step = 0;
  bool is_window = false;
  double begin_seconds = 0, end_seconds = 0;
  std::optional<uint32_t> device;  // none: the host
  Ledger::Levels end;
  Range device_used, reserved, live;
  uint64_t allocations = 0, frees = 0, bytes_allocated = 0, bytes_freed = 0;
};

template <uint64_t StepRow::*kField>
void AddCount(const StepRow& row, ColumnValues* to) {
  to->Add(row.*kField);
}

template <uint64_t Ledger::Levels::*kField>
void AddEnd(const StepRow& row, ColumnValues* to) {
  to->Add(row.end.*kField);
}

template <Range StepRow::*kField, uint64_t Range::*kBound>
void AddBound(const StepRow& row, ColumnValues* to) {
  to->Add(row.*kField.*kBound);
}

std::vector<RowColumn<StepRow>> StepColumns() {
  using Column = TableColumn;
  using Values = ColumnValues;
  using Row = StepRow;
  using Levels = Ledger::Levels;
  return WithProcess<Row>({
      {{"step", Column::kInteger}, AddCount<&Row::step>},
      {{"unit", Column::kText}, [](const Row& row, Values* to) { to->AddText(row.is_window ? "window" : "step"); }},
      {{"begin_seconds", Column::kNumber}, [](const Row& row, Values* to) { to->AddNumber(row.begin_seconds); }},
      {{"end_seconds", Column::kNumber}, [](const Row& row, Values* to) { to->AddNumber(row.end_seconds); }},
      {{"device", Column::kInteger, true}, [](const Row& row, Values* to) { to->AddOptional(row.device); }},
      {{"live", Column::kInteger}, AddEnd<&Levels::live>},
      {{"reserved", Column::kInteger}, AddEnd<&Levels::reserved>},
      {{"device_used", Column::kInteger}, AddEnd<&Levels::device_used>},
      {{"live_low", Column::kInteger}, AddBound<&Row::live, &Range::low>},
      {{"live_high", Column::kInteger}, AddBound<&Row::live, &Range::high>},
      {{"reserved_low", Column::kInteger}, AddBound<&Row::reserved, &Range::low>},
      {{"reserved_high", Column::kInteger}, AddBound<&Row::reserved, &Range::high>},
      {{"device_used_low", Column::kInteger}, AddBound<&Row::device_used, &Range::low>},
      {{"device_used_high", Column::kInteger}, AddBound<&Row::device_used, &Range::high>},
      {{"allocations", Column::kInteger}, AddCount<&Row::allocations>},
      {{"frees", Column::kInteger}, AddCount<&Row::frees>},
      {{"bytes_allocated", Column::kInteger}, AddCount<&Row::bytes_allocated>},
      {{"bytes_freed", Column::kInteger}, AddCount<&Row::bytes_freed>},
  });
}

// Follows a replay and makes a row of each complete step and device. Counts are those of the level that `live` is
// about, or of the one that is asked for.
class StepRows final : public ReplayObserver {
 public:
  StepRows(const ExportedProcess& process, const TableProcess& row_of_process, TableWriter<StepRow>* writer)
      : process_(process), row_of_process_(row_of_process), writer_(*writer) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Count(allocated.allocation.site, 1, allocated.allocation.bytes, true);
  }
  void OnFree(const ReplayAllocation& freed) override {
    Count(freed.allocation.site, 1, freed.allocation.bytes, false);
  }
  void OnFold(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) override {
    Count(site, objects, bytes, born);
  }

  void OnStepEnd(uint32_t step) override {
    const auto& span = process_.StepSpan();
    const bool wanted = !span || (step >= span->first && step <= span->second);
    const TickClock& clock = process_.trace().clock();
    const double end = clock.Seconds(ledger_->last_ticks());
    const StepClock& steps = ledger_->steps();
    Track(ledger_->scopes().size());
    for (size_t i = 0; i < ledger_->scopes().size(); ++i) {
      const Scope& scope = ledger_->scopes()[i];
      if (!IsShown(scope)) continue;
      StepRow& row = rows_[i];
      row.process = &row_of_process_;
      row.step = step < steps.numbers().size() ? steps.numbers()[step] : step;
      row.is_window = steps.plan().has_windows();
      row.begin_seconds = begin_seconds_;
      row.end_seconds = end;
      row.device = NumberOf(scope.device);
      row.end = ledger_->LevelsOf(scope);
      if (wanted && open_) open_ = writer_.Add(row);
      Begin(scope, &row);
    }
    begin_seconds_ = end;
  }

 private:
  static bool IsShown(const Scope& scope) {
    return scope.is_leading() || (scope.device == kHost && scope.level == Level::kDriver);
  }

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
    switch (process_.options().levels) {
      case ExportOptions::Levels::kAll:
        return leads;
      case ExportOptions::Levels::kDriver:
        return scope.level == Level::kDriver;
      case ExportOptions::Levels::kFramework:
        return scope.level == Level::kFramework;
    }
    return false;
  }

  const ExportedProcess& process_;
  const TableProcess& row_of_process_;
  TableWriter<StepRow>& writer_;
  const Ledger* ledger_ = nullptr;
  std::vector<StepRow> rows_;  // of the present step, by scope
  double begin_seconds_ = 0;
  bool open_ = true;
};

class StepTable final : public Exporter {
 public:
  explicit StepTable(const MakeTableFormat& make) : writer_(StepColumns(), make) {}

  absl::Status Add(ExportedProcess& process) override {
    processes_.emplace_back(process.trace());
    StepRows rows(process, processes_.back(), &writer_);
    process.Replay({&rows}, [](DeviceIndex /*device*/) {});
    return absl::OkStatus();
  }
  void Finish() override { writer_.Finish(); }

 private:
  std::deque<TableProcess> processes_;  // stay where they are
  TableWriter<StepRow> writer_;
};

}  // namespace

std::unique_ptr<Exporter> MakeStepTable(const MakeTableFormat& make) { return std::make_unique<StepTable>(make); }

namespace {

// What a site did in some steps that follow each other.
struct WindowRow {
  const TableProcess* process = nullptr;
  std::string site, level, kind, category, verdict;
  std::optional<uint32_t> device;
  uint64_t window = 0, first_step = 0, last_step = 0;
  uint64_t births = 0, born_bytes = 0, deaths = 0, died_bytes = 0, survivors = 0, survivor_bytes = 0;
  uint64_t live_objects = 0, live_bytes = 0;  // when the window ends
};

std::vector<RowColumn<WindowRow>> WindowColumns() {
  using Column = TableColumn;
  using Row = WindowRow;
  return WithProcess<Row>({
      {{"site", Column::kText}, AddMember<Row, &Row::site>},
      {{"level", Column::kText}, AddMember<Row, &Row::level>},
      {{"kind", Column::kText}, AddMember<Row, &Row::kind>},
      {{"device", Column::kInteger, true}, AddMember<Row, &Row::device>},
      {{"category", Column::kText, true}, AddMember<Row, &Row::category>},
      {{"verdict", Column::kText}, AddMember<Row, &Row::verdict>},
      {{"window", Column::kInteger}, AddMember<Row, &Row::window>},
      {{"first_step", Column::kInteger}, AddMember<Row, &Row::first_step>},
      {{"last_step", Column::kInteger}, AddMember<Row, &Row::last_step>},
      {{"births", Column::kInteger}, AddMember<Row, &Row::births>},
      {{"born_bytes", Column::kInteger}, AddMember<Row, &Row::born_bytes>},
      {{"deaths", Column::kInteger}, AddMember<Row, &Row::deaths>},
      {{"died_bytes", Column::kInteger}, AddMember<Row, &Row::died_bytes>},
      {{"survivors", Column::kInteger}, AddMember<Row, &Row::survivors>},
      {{"survivor_bytes", Column::kInteger}, AddMember<Row, &Row::survivor_bytes>},
      {{"live_objects", Column::kInteger}, AddMember<Row, &Row::live_objects>},
      {{"live_bytes", Column::kInteger}, AddMember<Row, &Row::live_bytes>},
  });
}

ReportSite Outline(const ProfileSite& site) {
  ReportSite outline;
  outline.level = LevelOf(site.kind, site.segments);
  outline.kind = KindName(site.kind);
  outline.device = site.device;
  outline.frames = site.frames;
  return outline;
}

class WindowTable final : public Exporter {
 public:
  explicit WindowTable(const MakeTableFormat& make) : writer_(WindowColumns(), make) {}

  absl::Status Add(ExportedProcess& process) override {
    processes_.emplace_back(process.trace());
    AddProfile(MakeStepProfile(&process.analysis()), ReportedSites(process.analysis()));
    return absl::OkStatus();
  }
  absl::Status AddSummary(const std::string& path, const ProcessSummary& summary) override {
    processes_.emplace_back(path, summary);
    AddProfile(summary.profile, summary.findings.sites);
    return absl::OkStatus();
  }
  void Finish() override { writer_.Finish(); }

 private:
  void AddProfile(const StepProfile& profile, const std::vector<ReportSite>& reported) {
    SiteIds ids(reported);
    for (const ProfileSite& site : profile.sites) {
      const ReportSite outline = Outline(site);
      WindowRow row;
      row.process = &processes_.back();
      row.site = ids.IdOf(outline);
      row.level = NameOf(outline.level);
      row.kind = outline.kind;
      row.category = site.category;
      row.verdict = site.verdict;
      row.device = site.device;
      AddWindows(profile, site.windows, &row);
    }
  }

  void AddWindows(const StepProfile& profile, const SiteWindows& windows, WindowRow* row) {
    for (size_t i = 0; i < windows.sums.size(); ++i) {
      const SiteWindow& sums = windows.sums[i];
      row->window = i;
      row->first_step = i < profile.window_steps.size() ? profile.window_steps[i].first : 0;
      row->last_step = i < profile.window_steps.size() ? profile.window_steps[i].last : 0;
      row->births = sums.births;
      row->born_bytes = sums.born_bytes;
      row->deaths = sums.deaths;
      row->died_bytes = sums.died_bytes;
      row->survivors = sums.survivors;
      row->survivor_bytes = sums.survivor_bytes;
      row->live_objects += sums.births - sums.deaths;
      row->live_bytes += sums.born_bytes - sums.died_bytes;
      // A site that has nothing and does nothing has no row.
      if (row->births + row->deaths + row->live_objects > 0) writer_.Add(*row);
    }
  }

  std::deque<TableProcess> processes_;  // stay where they are
  TableWriter<WindowRow> writer_;
};

}  // namespace

std::unique_ptr<Exporter> MakeWindowTable(const MakeTableFormat& make) { return std::make_unique<WindowTable>(make); }

}  // namespace vramtrack
