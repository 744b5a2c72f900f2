// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/words/finding_words.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/function_name.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/site_places.h"
#include "analyzer/model/whole_leak.h"
#include "analyzer/render/words/answer_words.h"
#include "analyzer/render/words/verdict_words.h"

namespace vramtrack {
namespace {

constexpr double kLeastShare = .05;  // of a line that says something about a leak

// A site's own line, or, where that is the line of the whole leak, what is further in.
const ReportFrame* PlaceOfPart(const SitePlaces& places, const ReportSite& leader, const ReportSite& part) {
  const ReportFrame* place = places.Of(part.frames);
  if (place == nullptr || leader.frames.empty()) return place;
  const ReportFrame& whole = leader.frames[std::min(leader.blame_frame, leader.frames.size() - 1)];
  return place->file == whole.file && place->line == whole.line ? places.Innermost(part) : place;
}

// Orders by what a site leaves behind, the most first.
bool LeaksMore(const ReportSite& a, const ReportSite& b) {
  return std::make_pair(a.rate_bytes_per_step, a.rate_objects_per_step) >
         std::make_pair(b.rate_bytes_per_step, b.rate_objects_per_step);
}

// "2.00 MiB live after the last step": what a job frees on its way out was there until then.
std::string StillLive(const ReportSite& site) {
  const bool steps = site.kept.has_value() && !site.kept->bytes.empty();
  return absl::StrCat(BytesText(steps ? site.kept->bytes.back() : site.live_bytes),
                      steps ? " live after the last step" : " live at the end");
}

}  // namespace

std::vector<std::string> UseSentences(const ReportSite& site) {
  std::vector<std::string> lines;
  if (site.memory_name) {
    lines.push_back(
        absl::StrCat("the program calls it ", Printable(site.memory_name->name),
                     site.memory_name->share < 1 ? ", " + FormatPercent(site.memory_name->share) + " of it" : ""));
  }
  if (site.nvtx_range) {
    const ReportNvtxRange& range = *site.nvtx_range;
    constexpr double kNearlyAll = 0.95;
    lines.push_back(absl::StrCat(
        "while the range ", Printable(range.path), " is open",
        range.opened_at.empty() ? "" : ", from " + Printable(range.opened_at),
        range.share >= kNearlyAll ? "" : absl::StrCat(", for ", FormatPercent(range.share), " of the allocations")));
  }
  if (site.last_use) {
    const ReportLastUse& last = *site.last_use;
    const std::string when = last.latest_step
                                 ? absl::StrCat("step ", *last.latest_step, " (", FormatSeconds(last.latest_s), ")")
                                 : FormatSeconds(last.latest_s);
    lines.push_back(absl::StrCat("not used after ", when,
                                 ": no kernel, copy or fill of the process ran later; half of ",
                                 Plural(last.objects, "object", "objects"), " were idle for ",
                                 FormatSeconds(last.idle_s), " or more until they were freed or the trace ended"));
  }
  if (site.first_kernel) {
    const std::string name = ShortFunctionName(site.first_kernel->function);
    lines.push_back(
        absl::StrCat("first kernel after it: ", Printable(name.empty() ? site.first_kernel->function : name), ", for ",
                     FormatPercent(site.first_kernel->share), " of the allocations"));
  }
  return lines;
}

void DescribeInWords(Report* report) {
  const SitePlaces places(*report);
  for (ReportSite& site : report->sites) {
    const bool leads = IsLeak(site) && site.part_of.is_none();
    const bool grows = site.rate_bytes_per_step != 0 || site.rate_objects_per_step != 0;
    site.rate = leads ? LeakRate(site) : grows ? OwnRate(site) : "";
    site.text = FramePlace(places.Of(site));
    if (!IsLeak(site)) {
      absl::StrAppend(&site.text, ": ", NameOf(site.verdict), ", ", BytesText(site.bytes_at_peak), " at the peak");
      continue;
    }
    absl::StrAppend(&site.text, site.verdict == Verdict::kGrowingBuffer ? " grows by " : " leaks ", site.rate);
    if (leads) absl::StrAppend(&site.text, " (", Certainty(*report, site), ")");
  }
}

std::vector<FurtherFinding> FurtherFindings(const Report& report) {
  std::vector<FurtherFinding> findings;
  for (const ReportSite& site : report.sites) {
    const std::string does = IsLeak(site) ? "" : WordsOf(site.verdict).does;
    // A segment is what blocks are in: that too little is known is said of them. Without steps it is so of all.
    const bool unjudged = site.verdict == Verdict::kInsufficientEvidence;
    if (does.empty() || (unjudged && (site.category == "segment" || report.steps.count == 0))) continue;
    findings.push_back({&site, absl::StrCat(does, ", ", StillLive(site))});
  }
  return findings;
}

LeakParts::LeakParts(const Report& report) : report_(report), members_(LeakMembers(report.sites)) {}

std::vector<LeakPart> LeakParts::Of(const ReportSite& leader) const {
  std::vector<const ReportSite*> sites = {&leader};
  const auto members = members_.find(static_cast<size_t>(&leader - report_.sites.data()));
  if (members != members_.end()) {
    for (const size_t member : members->second) {
      if (&report_.sites[member] != &leader) sites.push_back(&report_.sites[member]);
    }
  }
  std::stable_sort(sites.begin(), sites.end(),
                   [](const ReportSite* a, const ReportSite* b) { return LeaksMore(*a, *b); });
  const SitePlaces places(sites);
  std::vector<LeakPart> parts;
  for (const ReportSite* site : sites) parts.push_back({site, PlaceOfPart(places, leader, *site)});
  return parts;
}

std::vector<LineOfLeak> LeakParts::LinesOf(const ReportSite& leader) const {
  struct Sum {
    ReportSite site;
    LineOfLeak line;
  };
  std::vector<Sum> sums;
  double bytes = 0;
  for (const LeakPart& part : Of(leader)) {
    bytes += part.site->rate_bytes_per_step;
    const std::string place = FramePlace(part.place);
    auto sum = std::find_if(sums.begin(), sums.end(), [&place](const Sum& known) { return known.line.place == place; });
    if (sum == sums.end()) {
      sum = sums.insert(sums.end(), {*part.site, {place, "", false, {}}});
    } else {
      sum->site.rate_bytes_per_step += part.site->rate_bytes_per_step;
      sum->site.rate_objects_per_step += part.site->rate_objects_per_step;
    }
    sum->line.sites.push_back(part.site);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return LeaksMore(a.site, b.site); });
  std::vector<LineOfLeak> lines;
  for (Sum& sum : sums) {
    sum.line.rate = absl::StrCat(OwnRate(sum.site), leader.across && leader.across->leak > 1 ? " in all" : "");
    sum.line.notable = sum.site.rate_bytes_per_step >= kLeastShare * bytes;
    lines.push_back(std::move(sum.line));
  }
  return lines;
}

}  // namespace vramtrack
