// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/page_words.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/notable.h"
#include "analyzer/model/oom_lines.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/html/columns.h"
#include "analyzer/render/words/answer_words.h"
#include "analyzer/render/words/device_words.h"
#include "analyzer/render/words/finding_words.h"

namespace vramtrack {
namespace {

constexpr size_t kMostFurther = 100, kMostOnCard = 50;

// One element for each of `values`.
template <class Values, class Make>
Json ListOf(const Values& values, const Make& make) {
  Json list = Json::array();
  for (const auto& value : values) list.push_back(make(value));
  return list;
}

std::string LedgerText(const std::optional<ReportGrowthLedger>& ledger, bool bytes) {
  return ledger ? absl::StrCat(GrewBy(*ledger, bytes), ": ", FromTo(*ledger, bytes)) : "";
}

// "leak train.py:43": where room is short, the last part of the path is enough.
std::string LeakLabel(const SitePlaces& places, const ReportSite& site) {
  const std::string place = PlaceOf(places.Of(site)).location;
  return absl::StrCat("leak ", place.substr(place.rfind('/') + 1));
}

Json UseJson(const PeakUse& use) { return {{"label", use.label}, {"category", use.category}, {"bytes", use.bytes}}; }

Json DeviceJson(const Report& report, const SitePlaces& places, const ReportDevice& device) {
  WordRows memory;
  for (const auto& rows_of : {MemoryRows, LedgerRows, GrowthRows, HeldRows, ValueRows, LimitRows, UntracedRows}) {
    for (auto& row : rows_of(report, device)) memory.push_back(std::move(row));
  }
  return {{"title", DeviceTitle(device)},
          {"uses", ListOf(PeakUses(report, places, device), UseJson)},
          {"memory", std::move(memory)},
          {"fragmentation", FragmentationRows(report, device)},
          {"growth", device.growth ? RateWithInterval(*device.growth) : "too few steps"},
          {"grew", device.growth ? LedgerText(device.growth->ledger, /*bytes=*/true) : ""},
          {"full", device.growth ? FullInSteps(*device.growth) : ""}};
}

Json PeakLine(const ReportPeakLine& line) {
  const CodePlace place = PlaceOf(line.line ? &*line.line : nullptr);
  return {{"location", place.location}, {"function", place.function}};
}

Json OomLineJson(const Report& report, const OomLine& line) {
  return {{"site", ToJson(line.site, &report.sites)},
          {"place", line.place},
          {"leak", line.leak},
          {"sites", line.sites},
          {"then", line.then},
          {"now", line.now}};
}

Json OomJson(const Report& report, const ReportOom& oom, const OomLines& lines) {
  const OomWords words = WordsOf(report, oom, lines);
  const auto line_json = [&report](const OomLine& line) { return OomLineJson(report, line); };
  Json notes = Json::array();
  for (const std::string& note : {words.framework, words.change}) {
    if (!note.empty()) notes.push_back(note);
  }
  return {{"request", words.request},
          {"answer", words.headline.text},
          {"notes", std::move(notes)},
          {"stack", ListOf(oom.stack, [](const ReportFrame& frame) { return PageFrame(frame, true); })},
          {"holders", ListOf(words.holders, line_json)},
          {"grown", ListOf(words.grown, line_json)},
          {"held", HeldBytes(oom)},
          {"setting", oom.would_fit.empty() ? "" : oom.would_fit.front().first},
          {"advice", words.setting}};
}

}  // namespace

std::vector<PeakUse> PeakUses(const Report& report, const SitePlaces& places, const ReportDevice& device) {
  std::map<std::string, uint64_t> left;  // of each category without the leaks
  for (const ReportPeakCategory& one : device.peak_set.categories) left[one.name] = one.bytes;
  std::vector<PeakUse> uses;
  std::map<size_t, size_t> use_of_leak;  // by the site that leads it
  for (size_t i = 0; i < report.sites.size(); ++i) {
    const ReportSite& site = report.sites[i];
    if (!IsLeak(site) || site.device != device.index) continue;
    const uint64_t bytes = std::min(site.bytes_at_peak, left[site.category]);
    left[site.category] -= bytes;
    const ReportSite* leader = site.part_of.is_none() ? &site : FindSite(report, site.part_of);
    const auto [leak, is_new] =
        use_of_leak.try_emplace(leader == nullptr ? i : leader - report.sites.data(), uses.size());
    if (is_new) {
      uses.push_back({LeakLabel(places, leader == nullptr ? site : *leader), "", 0});
    }
    uses[leak->second].bytes += bytes;
  }
  for (const ReportPeakCategory& one : device.peak_set.categories) {
    uses.push_back({CategoryText(one.name), one.name, left[one.name]});
  }
  std::stable_sort(uses.begin(), uses.end(), [](const PeakUse& a, const PeakUse& b) {
    return std::make_pair(a.category.empty(), a.bytes) > std::make_pair(b.category.empty(), b.bytes);
  });
  uses.erase(std::remove_if(uses.begin(), uses.end(), [](const PeakUse& use) { return use.bytes == 0; }), uses.end());
  return uses;
}

Json VerdictTones() {
  Json tones;
  for (size_t i = 0; i < std::size(EnumNames<Verdict>::kNames); ++i) {
    tones[EnumNames<Verdict>::kNames[i]] = ToneOf(static_cast<Verdict>(i));
  }
  return tones;
}

Json PageWords(const Report& report) {
  const SitePlaces places(report);
  const OomLines lines(report);
  std::vector<FurtherFinding> further = FurtherFindings(report);
  const size_t more = further.size() - std::min(further.size(), kMostFurther);
  further.resize(further.size() - more);
  Json words;
  words["tones"] = VerdictTones();
  words["steps"] = StepsText(report.steps);
  words["further"] = ListOf(further, [](const FurtherFinding& one) -> Json {
    return {{"site", one.site->id}, {"what", one.what}};
  });
  words["more"] = more;
  words["devices"] =
      ListOf(report.devices, [&](const ReportDevice& device) { return DeviceJson(report, places, device); });
  words["pinned_grew"] = LedgerText(report.pinned_growth, /*bytes=*/true);
  words["handles_grew"] = LedgerText(report.handle_growth, /*bytes=*/false);
  words["peak"] = ListOf(report.peak_lines, [](const ReportPeakLines& peak) { return ListOf(peak.lines, PeakLine); });
  words["oom"] = ListOf(report.oom, [&](const ReportOom& oom) { return OomJson(report, oom, lines); });
  words["releases"] = ListOf(report.releases, [](const ReportRelease& release) {
    return AskedByJob(release) ? "empty_cache()" : "cache flush";
  });
  words["ranks"] = ListOf(report.ranks, [&](const ReportRank& rank) -> Json {
    return {{"name", RankName(rank)}, {"differs", RankReasons(report, places, {&rank})}};
  });
  words["cards"] = ListOf(report.cards, [](const ReportCard& card) -> Json {
    return {{"title", CardTitle(card)}, {"rows", CardRows(card, kMostOnCard)}};
  });
  const WordRows contexts = ContextRows(report, /*all=*/false, kMostOnCard);
  if (!contexts.empty()) words["cards"].push_back({{"title", "CUDA contexts"}, {"rows", contexts}});
  if (report.host) words["host"] = {{"title", HostTitle(report)}, {"rows", HostRows(report)}};
  return words;
}

}  // namespace vramtrack
