// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <set>
#include <string>
#include <utility>

#include "analyzer/export/findings_table.h"
#include "analyzer/export/frame_names.h"
#include "analyzer/export/site_names.h"
#include "analyzer/export/tables.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

struct SiteRow {
  const TableProcess* process;
  ReportSite site;
  bool judged = false;  // it is one of the report's: rates, intervals and what the peak would have been are known
  std::optional<SiteCounts> counts;  // none: of a summary
};

const ReportFrame* NamedFrame(const ReportSite& site) {
  const size_t frame = IsLeak(site) ? site.blame_frame : NamingFrame(site.frames, 0);
  return frame < site.frames.size() ? &site.frames[frame] : nullptr;
}

template <uint64_t SiteCounts::*kField>
void AddMoment(const SiteRow& row, ColumnValues* to) {
  row.counts ? to->Add((*row.counts).*kField) : to->AddNull();
}

std::string HolderValue(const SiteRow& row, std::string ReportHolder::*member) {
  return row.site.holder ? Printable((*row.site.holder).*member) : "";
}

std::vector<RowColumn<SiteRow>> SiteColumns() {
  using Column = TableColumn;
  using Values = ColumnValues;
  // What is known of sites of the report only.
  const std::set<std::string> judged = {"rate_bytes_per_step",   "rate_ci_low", "rate_ci_high",
                                        "rate_objects_per_step", "rate_unit",   "rate_bytes_per_second",
                                        "peak_without_site"};
  std::vector<RowColumn<SiteRow>> columns = FieldColumns(&SiteRow::site, {});
  for (RowColumn<SiteRow>& column : columns) {
    if (judged.count(column.column.name) == 0) continue;
    column.column.nullable = true;
    column.add = [add = column.add](const SiteRow& row, Values* to) { row.judged ? add(row, to) : to->AddNull(); };
  }
  const std::vector<RowColumn<SiteRow>> others = {
      {{"alloc_objects", Column::kInteger, true}, AddMoment<&SiteCounts::alloc_objects>},
      {{"alloc_bytes", Column::kInteger, true}, AddMoment<&SiteCounts::alloc_bytes>},
      {{"inuse_objects", Column::kInteger, true}, AddMoment<&SiteCounts::inuse_objects>},
      {{"inuse_bytes", Column::kInteger, true}, AddMoment<&SiteCounts::inuse_bytes>},
      {{"function", Column::kText, true},
       [](const SiteRow& row, Values* to) { to->AddTextOrNull(FunctionText(NamedFrame(row.site))); }},
      {{"line", Column::kText, true},
       [](const SiteRow& row, Values* to) { to->AddTextOrNull(LineText(NamedFrame(row.site))); }},
      {{"holder", Column::kText, true},
       [](const SiteRow& row, Values* to) { to->AddTextOrNull(HolderValue(row, &ReportHolder::path)); }},
      {{"holder_type", Column::kText, true},
       [](const SiteRow& row, Values* to) { to->AddTextOrNull(HolderValue(row, &ReportHolder::type)); }},
      {{"holder_count", Column::kInteger, true},
       [](const SiteRow& row, Values* to) {
         to->AddOptional(row.site.holder ? row.site.holder->count : std::optional<uint64_t>());
       }},
      {{"holder_share", Column::kNumber, true},
       [](const SiteRow& row, Values* to) {
         to->AddOptionalNumber(row.site.holder ? std::optional<double>(row.site.holder->share) : std::nullopt);
       }},
      {{"holder_hint", Column::kText, true},
       [](const SiteRow& row, Values* to) { to->AddTextOrNull(HolderValue(row, &ReportHolder::hint)); }},
      {{"frames", Column::kTexts}, [](const SiteRow& row, Values* to) { to->AddTexts(FrameTexts(row.site.frames)); }},
  };
  columns.insert(columns.end(), others.begin(), others.end());
  return WithProcess<SiteRow>(std::move(columns));
}

// Of a site that the report leaves out.
ReportSite Describe(ProcessAnalysis& analysis, const SiteNames::Named& named) {
  const Site& first = analysis.ledger().sites()[named.sites[0]];
  ReportSite site;
  site.id = named.id;
  site.level = LevelOf(first);
  site.kind = KindName(first.key.kind);
  site.device = NumberOf(first.key.device);
  site.owner = analysis.symbolizer().Owner(first.key.stack);
  site.category = analysis.Category(named.sites[0]);
  site.verdict = analysis.verdicts()[named.sites[0]].verdict;
  site.frames = analysis.shown().Frames(first.key.stack);
  for (const SiteIndex index : named.sites) {
    const Site& one = analysis.ledger().sites()[index];
    site.allocations += one.allocations;
    site.frees += one.frees;
    site.bytes_allocated += one.bytes_allocated;
    site.live_objects += one.live_objects;
    site.live_bytes += one.live_bytes;
    site.bytes_at_peak += one.bytes_at_peak;
  }
  return site;
}

class SitesAsTable final : public Exporter {
 public:
  explicit SitesAsTable(const MakeTableFormat& make) : writer_(SiteColumns(), make) {}

  absl::Status Add(ExportedProcess& process) override {
    processes_.emplace_back(process.trace());
    ProcessAnalysis& analysis = process.analysis();
    const std::vector<ReportSite>& judged = process.summary().findings.sites;
    const SiteNames names(&analysis);
    std::vector<SiteRow> counted(names.named.size());
    for (const ExportedSite& site : process.sites()) {
      const size_t row = names.of_site[site.index];
      if (!counted[row].counts) counted[row].counts.emplace();
      SiteCounts& counts = *counted[row].counts;
      counts.alloc_objects += site.counts.alloc_objects;
      counts.alloc_bytes += site.counts.alloc_bytes;
      counts.inuse_objects += site.counts.inuse_objects;
      counts.inuse_bytes += site.counts.inuse_bytes;
    }
    for (size_t i = 0; i < names.named.size(); ++i) {
      const Site& first = analysis.ledger().sites()[names.named[i].sites[0]];
      // What a framework's blocks lie in has no count of its own, but is one of the process's sites all the same.
      SiteRow& row = counted[i];
      if (!row.counts && (process.options().steps || !IsExported(first, process.options().levels))) continue;
      if (!row.counts) row.counts.emplace();
      row.process = &processes_.back();
      row.judged = i < judged.size();
      row.site = row.judged ? judged[i] : Describe(analysis, names.named[i]);
      if (!writer_.Add(row)) break;
      row.site = {};
    }
    return absl::OkStatus();
  }
  absl::Status AddSummary(const std::string& path, const ProcessSummary& summary) override {
    processes_.emplace_back(path, summary);
    for (const ReportSite& site : summary.findings.sites) {
      if (!writer_.Add({&processes_.back(), site, true, std::nullopt})) break;
    }
    return absl::OkStatus();
  }
  void Finish() override { writer_.Finish(); }

 private:
  std::deque<TableProcess> processes_;  // stay where they are
  TableWriter<SiteRow> writer_;
};

}  // namespace

std::unique_ptr<Exporter> MakeSiteTable(const MakeTableFormat& make) { return std::make_unique<SitesAsTable>(make); }

}  // namespace vramtrack
