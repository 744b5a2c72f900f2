// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/export/frame_names.h"
#include "analyzer/export/site_names.h"
#include "analyzer/export/tables.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

const ReportFrame* NamedFrame(const ReportSite& site) {
  const size_t frame = IsLeak(site) ? site.blame_frame : NamingFrame(site.frames, 0);
  return frame < site.frames.size() ? &site.frames[frame] : nullptr;
}

struct SiteRow {
  const ReportSite& site = kNone<ReportSite>;
  bool judged = false;  // it is one of the report's: rates, intervals and what the peak would have been are known
  const std::vector<ReportSite>* sites = nullptr;  // those of the report
  std::optional<SiteCounts> counts = {};           // none: of a summary

  void Put(TableRows* columns) const {
    TableRows& column = *columns;
    // What is known of sites of the report only.
    static const FieldChoice of_report = {
        {"rate", "text"},
        {"rate_bytes_per_step", "rate_ci_low", "rate_ci_high", "rate_objects_per_step", "rate_unit",
         "rate_bytes_per_second", "peak_without_site"}};
    static const FieldChoice of_others = {of_report.left_out, of_report.uncertain, false};
    PutFields(site, judged ? of_report : of_others, columns, sites);
    const SiteCounts& known = counts ? *counts : kNone<SiteCounts>;
    column("alloc_objects", NullUnless(counts.has_value(), known.alloc_objects));
    column("alloc_bytes", NullUnless(counts.has_value(), known.alloc_bytes));
    column("inuse_objects", NullUnless(counts.has_value(), known.inuse_objects));
    column("inuse_bytes", NullUnless(counts.has_value(), known.inuse_bytes));
    column("function", OrNull(FunctionText(NamedFrame(site))));
    column("line", OrNull(LineText(NamedFrame(site))));
    const bool held = site.holder.has_value();
    const ReportHolder& holder = held ? *site.holder : kNone<ReportHolder>;
    column("holder", OrNull(holder.path));
    column("holder_type", OrNull(holder.type));
    column("holder_count", holder.count);
    column("holder_share", NullUnless(held, holder.share));
    column("holder_hint", OrNull(holder.hint));
    column("frames", FrameTexts(site.frames));
  }
};

// Of a site that the report leaves out.
ReportSite Describe(ProcessAnalysis& analysis, const SiteNames::Named& named) {
  const Site& first = analysis.ledger().sites()[named.sites[0]];
  ReportSite site = SiteOutline(first, analysis.shown().Frames(first.key.stack));
  site.id = named.id;
  site.owner = analysis.symbolizer().Owner(first.key.stack);
  site.category = analysis.Category(named.sites[0]);
  site.verdict = analysis.verdicts()[named.sites[0]].verdict;
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

void AddSites(ExportedProcess* process, TableWriter* table) {
  ProcessAnalysis& analysis = process->analysis();
  const std::vector<ReportSite>& judged = process->summary().findings.sites;
  const SiteNames names(&analysis);
  std::vector<std::optional<SiteCounts>> counts(names.named.size());
  for (const ExportedSite& site : process->sites()) {
    std::optional<SiteCounts>& of_name = counts[names.of_site[site.index]];
    if (!of_name) of_name.emplace();
    *of_name += site.counts;
  }
  for (size_t i = 0; i < names.named.size(); ++i) {
    if (!counts[i]) {
      // What a framework's blocks lie in has no count of its own, but is one of the process's sites all the same.
      const Site& first = analysis.ledger().sites()[names.named[i].sites[0]];
      if (process->options().steps || !IsExported(first, process->options().levels)) continue;
      counts[i].emplace();
    }
    const bool is_judged = i < judged.size();
    const ReportSite site = is_judged ? judged[i] : Describe(analysis, names.named[i]);
    if (!table->Add(SiteRow{site, is_judged, &judged, counts[i]})) break;
  }
}

void AddSummarySites(const ProcessSummary& summary, TableWriter* table) {
  for (const ReportSite& site : summary.findings.sites) {
    if (!table->Add(SiteRow{site, true, &summary.findings.sites})) break;
  }
}

}  // namespace

const ExportTable kSiteTable = {"sites", DeclareColumns<SiteRow>, AddSites, AddSummarySites};

}  // namespace vramtrack
