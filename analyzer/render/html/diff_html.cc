// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/html.h"

#include <algorithm>
#include <string>
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

const char* Tone(Paint paint) {
  switch (paint) {
    case Paint::kAlarm:
      return "bad";
    case Paint::kGood:
      return "good";
    default:
      return "unsure";
  }
}

// Two bars, one above the other: a picture beside the figures. `most` is the longest bar.
std::string Bars(const DiffValue& value, double most) {
  const auto width = [most](double bytes) { return most > 0 ? std::max(0.0, bytes) / most * 100 : 0; };
  return absl::StrFormat(
      "<svg class=\"pair\" viewBox=\"0 0 100 12\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
      "<rect class=\"base\" width=\"%.2f\" height=\"5\"/><rect class=\"%s\" y=\"6\" width=\"%.2f\" "
      "height=\"5\"/></svg>",
      width(value.base), value.delta() > 0 ? "more" : "less", width(value.next));
}

void AddValue(const std::string& name, const DiffValue& value, const std::string& unit, double most,
              MarkupTable* table) {
  if (value.base == 0 && value.next == 0) return;
  const std::string delta = value.delta() == 0 ? "same" : SignedBytes(value.delta());
  table->MarkupRow({EscapeHtml(name), EscapeHtml(FormatByteCount(value.base) + unit),
                    EscapeHtml(FormatByteCount(value.next) + unit), most < kSmallestPicture ? "" : Bars(value, most),
                    value.significant ? absl::StrCat("<strong>", EscapeHtml(delta), "</strong>") : EscapeHtml(delta),
                    value.significant ? "significant" : ""});
}

// What the memory at the peaks of the device is for. Each run is asked on its own: the comparison has one category for
// a site of both, which depends on the direction.
std::vector<std::pair<std::string, DiffValue>> UsesOf(const DiffDevice& device, const DiffRuns* runs) {
  std::vector<std::pair<std::string, DiffValue>> uses;
  if (runs == nullptr) {
    for (const auto& [name, value] : device.categories) uses.push_back({CategoryText(name), value});
    return uses;
  }
  const auto add = [&](const Report& run, double DiffValue::*side) {
    const SitePlaces places(run);
    for (const ReportDevice& one : run.devices) {
      if (one.index != device.index) continue;
      for (const PeakUse& use : PeakUses(run, places, one)) {
        auto known =
            std::find_if(uses.begin(), uses.end(), [&](const auto& other) { return other.first == use.label; });
        if (known == uses.end()) known = uses.insert(uses.end(), {use.label, {}});
        known->second.*side += static_cast<double>(use.bytes);
      }
    }
  };
  add(runs->base, &DiffValue::base);
  add(runs->next, &DiffValue::next);
  return uses;
}

std::string Devices(const DiffReport& report, const DiffRuns* runs) {
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
  runs.Row({"base", Side(report.base)});
  runs.Row({"new", Side(report.next)});
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

std::string RenderDiffHtml(const DiffReport& report, const DiffRuns* runs) {
  const DiffAnswer answer = AnswerOf(report);
  const bool scripts = runs != nullptr;
  std::string page = absl::StrCat(PageHead(EscapeHtml(absl::StrCat(answer.title, " - vramtrack diff")),
                                           report.tool_version, scripts ? PageUse::kScripts : PageUse::kPlain),
                                  "<body>\n<main id=\"report\">\n<section class=\"answer ", Tone(answer.paint),
                                  "\">\n<p class=\"verdict\">", EscapeHtml(answer.title), "</p>\n<h1>",
                                  EscapeHtml(answer.words), "</h1>\n</section>\n");
  if (report.comparable) page += Findings(report);
  page += "<section id=\"flame\"></section>\n<section id=\"timelines\"></section>\n";
  if (report.comparable) page += Devices(report, runs);
  absl::StrAppend(&page, Notes(report), "</main>\n");
  if (!scripts) return absl::StrCat(page, "</body>\n</html>\n");
  Json data;
  data["base"] = RunJson(runs->base);
  data["next"] = RunJson(runs->next);
  return page + PageScripts(GzipBase64(data.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace vramtrack
