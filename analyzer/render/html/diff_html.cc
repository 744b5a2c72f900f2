// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/html.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/render/html/columns.h"
#include "analyzer/render/html/markup.h"
#include "analyzer/render/html/page_words.h"
#include "analyzer/render/json/json_fields.h"
#include "analyzer/render/text/diff_text.h"
#include "analyzer/render/words/answer_words.h"

namespace vramtrack {
namespace {

constexpr size_t kFrames = 40;
constexpr size_t kFlameSites = 2000;          // of each run, those that hold most at the peak
constexpr double kSmallestPicture = 1 << 20;  // bytes; bars of less would look like much

const char* Tone(Paint paint) { return paint == Paint::kAlarm ? "bad" : paint == Paint::kGood ? "good" : "unsure"; }

// Two bars, one above the other: a picture next to the figures. `most` is the longest bar.
std::string Bars(const DiffValue& value, double most) {
  const auto width = [most](double bytes) { return most > 0 ? std::max(0.0, bytes) / most * 100 : 0; };
  return absl::StrFormat(
      "<svg width=\"160\" height=\"18\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      "<rect fill=\"var(--reserved)\" width=\"%.2f\" height=\"5\"/>"
      "<rect fill=\"var(--%s)\" y=\"6\" width=\"%.2f\" height=\"5\"/></svg>",
      width(value.base), value.delta() > 0 ? "fit" : "live", width(value.next));
}

void AddValue(const std::string& name, const DiffValue& value, const std::string& unit, double most,
              MarkupTable* table) {
  if (value.base == 0 && value.next == 0) return;
  const std::string delta = EscapeHtml(DeltaText(value));
  table->MarkupRow({EscapeHtml(name), EscapeHtml(FormatByteCount(value.base) + unit),
                    EscapeHtml(FormatByteCount(value.next) + unit), most < kSmallestPicture ? "" : Bars(value, most),
                    value.significant ? absl::StrCat("<strong>", delta, "</strong>") : delta,
                    value.significant ? "significant" : ""});
}

// What the memory at the peaks of the device is for.
std::vector<std::pair<std::string, DiffValue>> UsesOf(const DiffDevice& device, const DiffRuns& runs) {
  std::vector<std::pair<std::string, DiffValue>> uses;
  const auto add = [&](const Report& run, double DiffValue::*side) {
    const ReportDevice* const one = FindDevice(run, device.index);
    if (one == nullptr) return;
    for (const PeakUse& use : PeakUses(run, SitePlaces(run), *one)) {
      auto known = std::find_if(uses.begin(), uses.end(), [&](const auto& other) { return other.first == use.label; });
      if (known == uses.end()) known = uses.insert(uses.end(), {use.label, {}});
      known->second.*side += static_cast<double>(use.bytes);
    }
  };
  add(runs.base, &DiffValue::base);
  add(runs.next, &DiffValue::next);
  return uses;
}

std::string Devices(const DiffReport& report, const DiffRuns& runs) {
  std::string text;
  for (const DiffDevice& device : report.devices) {
    MarkupTable table(absl::StrCat("Device ", device.index), {"", "base", "new", "", "difference", ""});
    double most = 0;
    for (const DiffValue& value : {device.peak, device.reserved_peak, device.fragmentation}) {
      most = std::max({most, value.base, value.next});
    }
    AddValue("live at the peak", device.peak, "", most, &table);
    for (const auto& [name, value] : UsesOf(device, runs)) AddValue("of that " + name, value, "", most, &table);
    AddValue("reserved at the peak", device.reserved_peak, "", most, &table);
    AddValue("reserved but not live", device.fragmentation, "", most, &table);
    AddValue("growth", device.growth, absl::StrCat(" per ", NameOf(report.rate_unit)),
             std::max(device.growth.base, device.growth.next), &table);
    text += table.Finish();
  }
  return text;
}

std::string Place(const DiffFinding& finding) {
  const std::string place = absl::StrCat("<code class=\"location\">", EscapeHtml(PlaceOf(finding)), "</code>");
  if (finding.frames.empty() && finding.explanation.empty()) return place;
  std::string stack;
  TextStyle style;
  style.unicode = true;
  for (const std::string& line : StackLines(style, finding.frames, finding.naming_frame, kFrames)) {
    absl::StrAppend(&stack, EscapeLines(line), "\n");
  }
  return absl::StrCat("<details><summary>", place, "</summary>",
                      finding.explanation.empty() ? "" : "<p>" + EscapeHtml(finding.explanation) + "</p>",
                      stack.empty() ? "" : "<pre>" + stack + "</pre>", "</details>");
}

std::string Sureness(const DiffFinding& finding) {
  std::vector<std::string> parts;
  if (finding.p_value) parts.push_back(absl::StrFormat("p %.2g", *finding.p_value));
  if (finding.effect_size) parts.push_back(absl::StrFormat("effect %+.2f", *finding.effect_size));
  return absl::StrJoin(parts, ", ");
}

// Each finding once: the line and how much it changed; a click on the line shows why, and its stack.
std::string Findings(const DiffReport& report) {
  std::string text;
  for (const DiffSection& section : SectionsOf(report)) {
    const bool any_sureness = std::any_of(section.findings->begin(), section.findings->end(),
                                          [](const DiffFinding& finding) { return !Sureness(finding).empty(); });
    std::vector<const char*> columns = {"line", "change"};
    if (any_sureness) columns.push_back("certainty");
    MarkupTable table(section.title, columns);
    for (const DiffFinding& finding : *section.findings) {
      const std::string change = EscapeHtml(ChangeOf(finding));
      std::vector<std::string> cells = {
          Place(finding), finding.leak ? absl::StrCat("<span class=\"badge bad\">leak</span> ", change) : change};
      if (any_sureness) cells.push_back(EscapeHtml(Sureness(finding)));
      table.MarkupRow(cells);
    }
    text += table.Finish();
  }
  return text;
}

std::string Side(const DiffSide& side) {
  uint64_t events = 0;
  for (const ReportProcess& process : side.processes) events += process.events;
  const bool complete =
      std::all_of(side.processes.begin(), side.processes.end(), [](const ReportProcess& one) { return one.complete; });
  const std::string command =
      side.processes.empty() ? "" : absl::StrCat(", ", absl::StrJoin(side.processes[0].command, " "));
  return absl::StrCat(Plural(side.processes.size(), "process", "processes"), ", ",
                      Plural(side.steps.count, "step", "steps"), ", ", Plural(events, "event", "events"),
                      complete ? "" : ", not complete", command);
}

std::string Notes(const DiffReport& report) {
  MarkupTable runs("The two runs", {"", "what was compared"});
  runs.MarkupRow({"base", EscapeHtml(Side(report.base))});
  runs.MarkupRow({"new", EscapeHtml(Side(report.next))});
  std::string text = runs.Finish();
  std::vector<std::string> notes = report.warnings;
  if (!report.moved.empty()) {
    notes.push_back(absl::StrCat(Plural(report.moved.size(), "site", "sites"), " only moved: to other lines or names"));
  }
  if (report.small_changes > 0) {
    notes.push_back(absl::StrCat(Plural(report.small_changes, "site", "sites"), " changed too little to matter"));
  }
  if (report.first_divergence) {
    notes.push_back(
        absl::StrCat("the allocation sequences part at event ", FormatCount(report.first_divergence->event)));
  }
  if (!report.normaliser.empty()) notes.push_back(report.normaliser);
  for (const std::string& note : notes) absl::StrAppend(&text, "<p class=\"note\">", EscapeHtml(note), "</p>\n");
  return text;
}

// A category that says something rather than one that does not, otherwise that of the run in which the site holds more.
const std::string& CategoryOfBoth(const ReportSite& base, const ReportSite& next) {
  const auto weight = [](const ReportSite& site) {
    return std::make_tuple(site.category != "unknown" && site.category != "other", site.bytes_at_peak, site.category);
  };
  return weight(base) < weight(next) ? next.category : base.category;
}

// Counts the blocks of a site in another category, wherever the page draws categories.
void MoveTo(const std::string& category, ReportSite* site, Report* run) {
  for (ReportDevice& device : run->devices) {
    if (device.index != site->device) continue;
    const auto bytes_of = [&device](const std::string& name) -> uint64_t& {
      for (ReportPeakCategory& one : device.peak_set.categories) {
        if (one.name == name) return one.bytes;
      }
      ReportPeakCategory& added = device.peak_set.categories.emplace_back();
      added.name = name;
      return added.bytes;
    };
    const uint64_t moved = std::min(bytes_of(site->category), site->bytes_at_peak);
    bytes_of(site->category) -= moved;
    bytes_of(category) += moved;
  }
  for (ReportTimeline& timeline : run->timeline) {
    for (const auto& [index, bytes] : timeline.at_high.sites) {
      if (FindSite(*run, index) != site) continue;
      std::map<std::string, std::vector<uint64_t>> columns(timeline.at_high.categories.begin(),
                                                           timeline.at_high.categories.end());
      columns[category].resize(bytes.size());
      columns[site->category].resize(bytes.size());
      for (size_t i = 0; i < bytes.size(); ++i) {
        const uint64_t moved = std::min(columns[site->category][i], bytes[i]);
        columns[site->category][i] -= moved;
        columns[category][i] += moved;
      }
      timeline.at_high.categories.assign(columns.begin(), columns.end());
    }
  }
  site->category = category;
}

// What a site's memory is for depends on what the run did with it, and so can differ from one run to the other.
void GiveSameCategories(const DiffReport& report, DiffRuns* runs) {
  std::map<std::string, std::string> new_ids;  // of findings; other sites have the same id in both runs
  for (const DiffSection& section : SectionsOf(report)) {
    for (const DiffFinding& finding : *section.findings) {
      if (finding.base_site && finding.new_site) new_ids[*finding.base_site] = *finding.new_site;
    }
  }
  std::map<std::string, ReportSite*> next_sites;
  for (ReportSite& site : runs->next.sites) next_sites[site.id] = &site;
  for (ReportSite& base : runs->base.sites) {
    const auto renamed = new_ids.find(base.id);
    const auto next = next_sites.find(renamed == new_ids.end() ? base.id : renamed->second);
    if (next == next_sites.end() || next->second->category == base.category) continue;
    const std::string category = CategoryOfBoth(base, *next->second);
    if (base.category == category) {
      MoveTo(category, next->second, &runs->next);
    } else {
      MoveTo(category, &base, &runs->base);
    }
  }
}

// What the page draws of one of the runs: its timelines, and the call stacks at its peak.
Json RunJson(const Report& report) {
  Json json;
  json["sites"] = SiteColumns(report, kFlameSites);
  json["words"]["tones"] = VerdictTones();
  json["peak_stacks"] = ToJson(report.peak_stacks, &report.sites);
  std::vector<ReportTimeline> timelines = report.timeline;
  for (ReportTimeline& drawn : timelines) {
    drawn.peak_step.reset();
    // Leaks have bands of their own; all other sites are in their categories.
    auto& sites = drawn.at_high.sites;
    sites.erase(std::remove_if(sites.begin(), sites.end(),
                               [&report](const auto& one) {
                                 const ReportSite* site = FindSite(report, one.first);
                                 return site == nullptr || !IsLeak(*site);
                               }),
                sites.end());
  }
  json["timeline"] = ToJson(timelines, &report.sites);
  return json;
}

}  // namespace

std::string RenderDiffHtml(const DiffReport& report, DiffRuns runs) {
  GiveSameCategories(report, &runs);
  const DiffAnswer answer = AnswerOf(report);
  std::string page = absl::StrCat(
      PageHead(EscapeHtml(absl::StrCat(answer.title, " - vramtrack diff")), report.tool_version, PageUse::kScripts),
      "<body>\n<main id=\"report\">\n<section class=\"answer ", Tone(answer.paint), "\">\n<p class=\"verdict\">",
      EscapeHtml(answer.title), "</p>\n<h1>", EscapeHtml(answer.words), "</h1>\n</section>\n");
  if (report.comparable) page += Findings(report);
  page += "<section id=\"flame\"></section>\n<section id=\"timelines\"></section>\n";
  if (report.comparable) page += Devices(report, runs);
  absl::StrAppend(&page, Notes(report), "</main>\n");
  Json data;
  data["base"] = RunJson(runs.base);
  data["next"] = RunJson(runs.next);
  return page + PageScripts(GzipBase64(data.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace vramtrack
