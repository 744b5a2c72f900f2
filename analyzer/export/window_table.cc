// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <utility>

#include "analyzer/export/findings_table.h"
#include "analyzer/export/site_names.h"
#include "analyzer/export/tables.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/profile/make_step_profile.h"

namespace vramtrack {
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

uint64_t At(const WindowSums& sums, size_t window) { return sums.empty() ? 0 : sums[window]; }

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

  void AddWindows(const StepProfile& profile, const SiteWindows& sums, WindowRow* row) {
    const WindowSums live = LiveAtEnds(profile, sums), objects = ObjectsAtEnds(profile, sums);
    for (size_t i = 0; i < profile.windows(); ++i) {
      row->window = i;
      row->first_step = At(profile.first_steps, i);
      row->last_step = At(profile.last_steps, i);
      row->births = At(sums.births, i);
      row->born_bytes = At(sums.born_bytes, i);
      row->deaths = At(sums.deaths, i);
      row->died_bytes = At(sums.died_bytes, i);
      row->survivors = At(sums.survivors, i);
      row->survivor_bytes = At(sums.survivor_bytes, i);
      row->live_objects = At(objects, i);
      row->live_bytes = At(live, i);
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
