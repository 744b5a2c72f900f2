// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/words/answer_words.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/notable.h"
#include "analyzer/render/words/finding_words.h"

namespace vramtrack {
namespace {

// "step #" as it is said of one: "step".
std::string NameOfOne(std::string name) {
  while (!name.empty() && (name.back() == '#' || name.back() == ' ' || name.back() == '_' || name.back() == '-')) {
    name.pop_back();
  }
  return name;
}

std::string RateUnitWords(const ReportSite& site) {
  const std::string name = site.rate_unit == RateUnit::kStep ? NameOfOne(site.step_name) : "";
  return name.empty() ? NameOf(site.rate_unit) : absl::StrCat("'", Printable(name), "'");
}

bool IsHandle(const ReportSite& site) { return site.level == Level::kHandle; }

// What turns a rate of this site into one per second; none: its rates are per step, or it has no bytes.
std::optional<double> ToSeconds(const ReportSite& site) {
  const double rate = FiguresOf(site).bytes;
  if (site.rate_unit == RateUnit::kStep || rate <= 0 || site.rate_bytes_per_second <= 0) return std::nullopt;
  return site.rate_bytes_per_second / rate;
}

// Nobody counts a run without steps in bytes allocated, but everybody has a clock.
std::string Rate(const ReportSite& site, double bytes, double objects) {
  if (IsHandle(site)) {
    const std::string kind = site.kind.empty() ? "handle" : absl::StrReplaceAll(site.kind, {{"_", " "}});
    return absl::StrCat(FormatAbout(objects), " ", kind, objects == 1 ? "" : "s", " per ", RateUnitWords(site));
  }
  const std::optional<double> to_seconds = ToSeconds(site);
  const char* const of = site.device ? "" : " of pinned memory";
  if (to_seconds) return absl::StrCat(FormatByteCount(bytes * *to_seconds), of, " per second");
  return absl::StrCat(FormatByteCount(bytes), of, " per ", RateUnitWords(site));
}

// The rate of a leak that several ranks have: what each of them leaks. Null: it is that of the site.
const ReportAcross::Rate* PerRank(const ReportSite& site) {
  return site.across && site.across->leak > 1 && site.across->rate ? &*site.across->rate : nullptr;
}

const char* RankWord(const ReportAcross& across) { return !across.rate || across.rate->most_rank ? "rank" : "process"; }

// Or the windows that stand for them.
std::string StepsCounted(const Report& report) {
  if (report.steps.unit == StepUnit::kStep) {
    // Steps of training and of evaluation are not of one kind: their sum is the number of neither.
    const auto phases = std::count_if(report.steps.phases.begin(), report.steps.phases.end(),
                                      [](const ReportPhase& phase) { return phase.unit == StepUnit::kStep; });
    return absl::StrCat(Plural(report.steps.count, "step", "steps"),
                        phases > 1 ? absl::StrCat(" in ", phases, " phases") : "");
  }
  return absl::StrCat("no steps were found: ", Plural(report.steps.count, "window", "windows"),
                      " of equal work stand for them");
}

std::string DeviceName(const ReportDevice& device) {
  std::vector<std::string> details;
  if (!device.name.empty()) details.push_back(Printable(device.name));
  if (device.total_bytes != 0) details.push_back(FormatByteCount(static_cast<double>(device.total_bytes)));
  std::string name = absl::StrCat("device ", device.index);
  return details.empty() ? name : absl::StrCat(name, " (", absl::StrJoin(details, ", "), ")");
}

// An amount of bytes, or of handles.
std::string GrownText(int64_t grown, bool bytes) {
  return bytes ? FormatByteCount(static_cast<double>(grown))
               : Plural(static_cast<uint64_t>(std::abs(grown)), "handle", "handles");
}

std::string PhasesText(const ReportSteps& steps) {
  std::vector<std::string> parts;
  for (const ReportPhase& phase : steps.phases) {
    if (phase.unit == StepUnit::kNone) continue;
    const std::string of = phase.unit == StepUnit::kWindow      ? "windows where there are no steps"
                           : !phase.name.empty()                ? absl::StrCat("'", Printable(phase.name), "'")
                           : phase.source == StepSource::kMarks ? "steps marked by the job"
                                                                : absl::StrCat("steps from the ", NameOf(phase.source));
    parts.push_back(absl::StrCat(FormatCount(phase.count), " ", of, " (", FormatPercent(phase.share), " of the run)"));
  }
  std::string text = "phases: " + absl::StrJoin(parts, ", then ");
  if (const double unjudged = NotableUnjudgedShare(steps); unjudged > 0) {
    absl::StrAppend(&text, "; ", FormatPercent(unjudged), " of the run could not be judged");
  }
  return text;
}

std::string EvidenceOf(const ReportSite& site) {
  const bool steps = site.rate_unit == RateUnit::kStep;
  if (!site.kept || site.kept->tested_steps == 0 || site.kept->steps_with_survivors == 0 ||
      site.verdict == Verdict::kGrowingBuffer) {
    return site.explanation.substr(0, site.explanation.find(';'));
  }
  const ReportKept& kept = *site.kept;
  const std::string checked =
      absl::StrCat(Plural(kept.tested_steps, steps ? "step" : "window", steps ? "steps" : "windows"), " checked kept ");
  if (kept.steps_with_survivors < kept.tested_steps) {
    return absl::StrCat(FormatCount(kept.steps_with_survivors), " of ", checked,
                        Plural(kept.survivor_objects, "object", "objects"));
  }
  const double each = std::round(static_cast<double>(kept.survivor_objects) / static_cast<double>(kept.tested_steps));
  return absl::StrCat("all ", checked, FormatAbout(each), each == 1 ? " object each" : " objects each");
}

}  // namespace

std::vector<LeakAtPlace> LeaksByPlace(const Report& report) {
  std::vector<LeakAtPlace> leaks;
  std::map<std::string, size_t> by_place;
  for (const ReportSiteIndex leak : report.ranking) {
    const ReportSite* site = FindSite(report, leak);
    std::string place = absl::StrCat(NameOf(site->level), "|", site->kind, "|", site->device ? "device" : "host");
    for (const ReportFrame& frame : site->frames) {
      absl::StrAppend(&place, "|", frame.function, "|", frame.file, "|", frame.line, "|", frame.module, "|",
                      frame.line == 0 ? frame.offset : 0);
    }
    const auto [found, is_new] = by_place.try_emplace(std::move(place), leaks.size());
    if (is_new) {
      leaks.push_back({site});
    } else {
      ++leaks[found->second].devices;
    }
  }
  return leaks;
}

std::string OnDevices(const LeakAtPlace& leak) {
  // Of what each rank leaks it does not matter.
  return leak.devices == 1 || PerRank(*leak.site) != nullptr ? "" : absl::StrCat(" on ", leak.devices, " devices");
}

LeakFigures FiguresOf(const ReportSite& site) {
  if (!site.group) {
    return {site.rate_bytes_per_step, site.rate_ci_low, site.rate_ci_high, site.rate_objects_per_step};
  }
  const ReportLeak& leak = *site.group;
  return {leak.rate_bytes_per_step, leak.rate_ci_low, leak.rate_ci_high, leak.rate_objects_per_step};
}

std::string OwnRate(const ReportSite& site) { return Rate(site, site.rate_bytes_per_step, site.rate_objects_per_step); }

std::string InHowManyRanks(const ReportSite& site) {
  if (!site.across || site.across->leak == 0) return "";
  const ReportAcross& across = *site.across;
  const std::string ranks = absl::StrCat(RankWord(across), across.rate && !across.rate->most_rank ? "es" : "s");
  if (across.leak == 1) return absl::StrCat("on only 1 of ", FormatCount(across.ranks), " ", ranks);
  if (across.leak == across.ranks) return absl::StrCat("on all ", FormatCount(across.ranks), " ", ranks);
  return absl::StrCat("on ", FormatCount(across.leak), " of ", FormatCount(across.ranks), " ", ranks);
}

std::string AcrossRanks(const ReportSite& site) {
  std::string text = InHowManyRanks(site);
  if (text.empty()) return "";
  const ReportAcross& across = *site.across;
  std::vector<std::string> others;
  if (across.not_enough > 0) others.push_back(FormatCount(across.not_enough) + " with too few steps");
  const uint64_t unlisted = across.ranks - across.leak - across.not_enough - across.no_leak;
  if (unlisted > 0) others.push_back(FormatCount(unlisted) + " without data on it");
  if (!others.empty()) absl::StrAppend(&text, " (", absl::StrJoin(others, ", "), ")");
  if (!across.rate) return text;
  const ReportAcross::Rate& rate = *across.rate;
  const std::string most = ProcessName(rate.most_rank, rate.most_pid);
  if (across.leak == 1) return absl::StrCat(text, ": ", most);
  if (rate.least == rate.most) return absl::StrCat(text, ", the same in each");
  const auto amount = [&](double value) {
    return rate.of == RateOf::kBytes ? FormatByteCount(value) : FormatAbout(value);
  };
  return absl::StrCat(text, ", from ", amount(rate.least), " to ", amount(rate.most), " (", most, ")");
}

std::string LeakRate(const ReportSite& site) {
  if (const ReportAcross::Rate* rate = PerRank(site)) {
    return absl::StrCat(Rate(site, rate->mean, rate->mean), " and ", RankWord(*site.across));
  }
  const LeakFigures figures = FiguresOf(site);
  return Rate(site, figures.bytes, figures.objects);
}

std::string Certainty(const Report& report, const ReportSite& site) {
  const LeakFigures whole = FiguresOf(site);
  std::vector<std::string> parts;
  if (!IsHandle(site)) {
    const ReportAcross::Rate* each = PerRank(site);
    const double unit = ToSeconds(site).value_or(1);
    std::string interval = FormatByteInterval(unit * (each != nullptr ? each->ci_low : whole.ci_low),
                                              unit * (each != nullptr ? each->ci_high : whole.ci_high));
    if (!interval.empty()) parts.push_back(std::move(interval));
  }
  if (site.parts > 0) parts.push_back(absl::StrCat(site.parts + 1, " sites"));
  if (ToSeconds(site) && !IsHandle(site)) {
    parts.push_back(absl::StrCat(FormatByteCount(whole.bytes), " per ", NameOf(site.rate_unit)));
  }
  parts.push_back(StepsCounted(report));
  if (site.onset_step) parts.push_back(absl::StrCat("since step ", *site.onset_step));
  return absl::StrJoin(parts, ", ");
}

std::string TimeToOutOfMemory(const Report& report, const ReportSite& site) {
  if (!site.device || HasRunOut(report, *site.device)) return "";
  const ReportDevice* const device = FindDevice(report, site.device);
  if (device == nullptr) return "";
  std::optional<double> steps = device->growth ? device->growth->steps_to_oom : std::nullopt;
  if (!steps && site.kept_in_pools > 0 && site.live_objects > 0 && device->total_bytes > device->end.device_used) {
    // Each further pool keeps as much as those before it.
    const double per_step =
        static_cast<double>(site.kept_in_pools) / static_cast<double>(site.live_objects) * site.rate_objects_per_step;
    if (per_step > 0) steps = static_cast<double>(device->total_bytes - device->end.device_used) / per_step;
  }
  if (!steps) return "";
  const std::string full = FormatTimeToFull(*steps);
  return full.empty() ? "" : absl::StrCat("at this rate device ", device->index, " is ", full);
}

std::string OfProcesses(const Report& report) {
  const size_t count = report.processes.size();
  return count > 1 ? absl::StrCat(" of ", FormatCount(count), " processes") : "";
}

// Short runs do not show rare leaks.
std::string WhatWouldShow(const ReportSteps& steps) {
  const char* const step = steps.unit == StepUnit::kStep ? "step" : "window";
  if (steps.rarest_leak == 0) return "";
  if (steps.rarest_leak == 1) return absl::StrCat("; only a leak in nearly every ", step, " would show");
  return absl::StrCat("; a leak rarer than 1 in ", steps.rarest_leak, " ", step, "s would not show");
}

std::string NoLeakWords(const Report& report) {
  return absl::StrCat("none of ", Plural(AllSites(report), "allocation site", "allocation sites"), OfProcesses(report),
                      " leaks (", StepsCounted(report), WhatWouldShow(report.steps), ")");
}

std::string NoLeakInShort(const Report& report) {
  return absl::StrCat(report.steps.unit == StepUnit::kStep ? "in " : "", StepsCounted(report), OfProcesses(report),
                      WhatWouldShow(report.steps));
}

std::string ShortEvidence(const Report& report, const ReportSite& site) {
  std::string evidence = Printable(EvidenceOf(site));
  if (!evidence.empty() && evidence.back() == '.') evidence.pop_back();
  std::vector<std::string> parts;
  if (!evidence.empty()) parts.push_back(std::move(evidence));
  if (site.kept_in_pools > 0) {
    parts.push_back(
        absl::StrCat("they keep ", FormatByteCount(static_cast<double>(site.kept_in_pools)), " that nothing uses"));
  }
  if (const std::string full = TimeToOutOfMemory(report, site); !full.empty()) parts.push_back(full);
  return absl::StrJoin(parts, "; ");
}

const ReportGrowthLine* GrowingLine(const Report& report) {
  // So short a run consists of set-up.
  if (std::any_of(report.reasons.begin(), report.reasons.end(),
                  [](const ReportReason& reason) { return reason.id == "few_steps"; })) {
    return nullptr;
  }
  const ReportGrowthLine* most = nullptr;
  for (const ReportDevice& device : report.devices) {
    if (!device.growth || !device.growth->ledger) continue;
    for (const ReportGrowthLine& line : device.growth->ledger->lines) {
      if (line.verdict != Verdict::kInsufficientEvidence || line.ci_low <= 0) continue;
      if (most == nullptr || line.per_step > most->per_step) most = &line;
    }
  }
  return most;
}

std::string GrowthWords(const Report& report, const ReportGrowthLine& line) {
  const ReportSite* site = line.sites.empty() ? nullptr : FindSite(report, line.sites[0]);
  const std::string name = site == nullptr ? "" : NameOfOne(site->step_name);
  const char* const unit = report.steps.unit == StepUnit::kStep ? "step" : "window";
  const std::string range = FormatByteRange(line.ci_low, line.ci_high);
  return absl::StrCat(
      FormatByteCount(line.per_step), " per ", name.empty() ? unit : absl::StrCat("'", Printable(name), "'"),
      line.ci_low < line.ci_high ? absl::StrCat(" (", range, ")") : "", line.not_slowing ? ", not slowing" : "");
}

std::string FullInSteps(const ReportGrowth& growth) {
  std::string full = growth.steps_to_oom ? FormatTimeToFull(*growth.steps_to_oom) : "";
  if (full.empty()) return "";
  if (growth.steps_to_oom_low < growth.steps_to_oom_high && growth.steps_to_oom_high >= 1) {
    const std::string low = FormatAbout(std::floor(growth.steps_to_oom_low));
    const std::string high = FormatAbout(std::ceil(growth.steps_to_oom_high));
    if (low != high) absl::StrAppend(&full, " (", low, " to ", high, ")");
  }
  return full;
}

std::string ProcessName(const std::optional<int>& rank, uint32_t pid) {
  return rank ? absl::StrCat("rank ", *rank) : absl::StrCat("process ", pid);
}

std::string RateWithInterval(const ReportGrowth& growth) {
  const bool windows = growth.ledger && !growth.ledger->from_step;
  const std::string rate = absl::StrCat(FormatByteCount(growth.bytes_per_step), windows ? " per window" : " per step");
  const std::string interval = FormatByteInterval(growth.ci_low, growth.ci_high);
  return interval.empty() ? rate : absl::StrCat(rate, " (", interval, ")");
}

std::vector<std::string> DeviceChanges(const Report& report) {
  std::vector<std::string> lines;
  for (const ReportDevice& device : report.devices) {
    if (!device.growth) continue;
    const ReportGrowth& growth = *device.growth;
    const bool grows = growth.ci_low > 0 || growth.ci_high < 0;
    lines.push_back(absl::StrCat("memory on ", DeviceName(device),
                                 grows ? " changes by " + RateWithInterval(growth) : " does not grow"));
  }
  return lines;
}

std::vector<std::string> NotEnoughWords(const Report& report) {
  uint64_t events = 0;
  for (const ReportProcess& process : report.processes) events += process.events;
  if (events == 0) return {"nothing was recorded: no allocation, no step"};
  std::vector<std::string> lines;
  for (const ReportReason& reason : report.reasons) lines.push_back(Printable(reason.text));
  if (report.steps.count > 0 && !lines.empty()) absl::StrAppend(&lines[0], " (", StepsCounted(report), ")");
  return lines;
}

std::string GrewBy(const ReportGrowthLedger& ledger, bool bytes) {
  return absl::StrCat(
      ledger.grown < 0 ? "shrank by " : "grew by ", GrownText(std::abs(ledger.grown), bytes), " in ",
      ledger.from_step ? Plural(ledger.steps, "step", "steps") : Plural(ledger.steps, "window", "windows"));
}

std::string FromTo(const ReportGrowthLedger& ledger, bool bytes) {
  const auto moment = [bytes](uint64_t amount, const std::optional<int64_t>& step) {
    return absl::StrCat(GrownText(static_cast<int64_t>(amount), bytes), step ? absl::StrCat(" at step ", *step) : "");
  };
  return absl::StrCat(moment(ledger.from, ledger.from_step), ", ", moment(ledger.to, ledger.to_step));
}

std::string WhoGrew(const ReportGrowthLedger& ledger, bool bytes, size_t most) {
  const std::string text = GrewBy(ledger, bytes);
  std::vector<std::string> parts;
  int64_t rest = ledger.grown;
  uint64_t others = ledger.lines.size() + ledger.other_lines;
  for (const ReportGrowthLine& line : ledger.lines) {
    if (parts.size() == most || (line.grown <= 0 && ledger.grown >= 0)) break;
    const std::string unit = line.unit == LineUnit::kLine ? "" : absl::StrCat(" (its ", NameOf(line.unit), ")");
    parts.push_back(absl::StrCat(GrownText(line.grown, bytes), " ", Printable(line.line),
                                 line.function.empty() ? "" : absl::StrCat(" in ", Printable(line.function)), unit,
                                 " (", WordsOf(line.verdict).name, ")"));
    rest -= line.grown;
    --others;
  }
  if (others > 0 && rest != 0)
    parts.push_back(absl::StrCat(GrownText(rest, bytes), " ", Plural(others, "other line", "other lines")));
  return parts.empty() ? text : absl::StrCat(text, ": ", absl::StrJoin(parts, ", "));
}

std::string CategoryText(const std::string& name) {
  if (name == "unknown") return "unknown use";
  return absl::StrReplaceAll(name, {{"_", " "}});
}

bool IsJustLeaked(const ReportSite& site) { return IsLeak(site) && site.category == "unknown"; }

std::string CategoriesText(std::vector<std::pair<std::string, uint64_t>> categories, uint64_t leaked) {
  uint64_t total = 0;
  for (auto& [name, bytes] : categories) {
    total += bytes;
    if (name != "unknown") continue;
    leaked = std::min(leaked, bytes);
    bytes -= leaked;
  }
  if (leaked > 0) categories.insert(categories.begin(), {"leaked", leaked});
  std::vector<std::string> parts;
  uint64_t rest = 0;
  for (const auto& [name, bytes] : categories) {
    if (name == "other" || !IsNotableCategory(bytes, total)) {
      rest += bytes;
      continue;
    }
    parts.push_back(absl::StrCat(FormatByteCount(static_cast<double>(bytes)), " ", CategoryText(name)));
  }
  if (rest != 0 && !parts.empty()) parts.push_back(FormatByteCount(static_cast<double>(rest)) + " other");
  return absl::StrJoin(parts, ", ");
}

std::string StepsText(const ReportSteps& steps) {
  if (steps.source == StepSource::kNone) return "no steps were found";
  if (!steps.phases.empty()) return PhasesText(steps);
  std::string source = steps.source == StepSource::kMarks       ? "marked by the job"
                       : steps.source == StepSource::kNvtx      ? "from ranges named"
                       : steps.source == StepSource::kOptimizer ? "from the optimizer's calls"
                       : steps.source == StepSource::kCells     ? "cells of the notebook"
                                                                : "inferred from the rhythm of the allocations";
  if (!steps.name.empty()) absl::StrAppend(&source, " '", Printable(steps.name), "'");
  std::string text = absl::StrCat(Plural(steps.count, "step", "steps"), ", ", source);
  std::vector<std::string> details;
  if (steps.seconds) details.push_back(FormatSeconds(*steps.seconds) + " each");
  if (steps.source != StepSource::kPeriodicity && LeaveMuchUncovered(steps)) {
    details.push_back(absl::StrCat("they cover ", FormatPercent(steps.coverage), " of the run"));
  }
  constexpr double kSure = 0.9;
  if (steps.source != StepSource::kMarks && steps.confidence < kSure) {
    details.push_back(absl::StrCat("confidence ", FormatAbout(steps.confidence)));
  }
  if (!details.empty()) absl::StrAppend(&text, " (", absl::StrJoin(details, ", "), ")");
  std::vector<std::string> rounds;
  for (const ReportStepRounds& round : steps.rounds) {
    rounds.push_back(absl::StrCat(FormatCount(round.count), " times ", FormatCount(round.steps)));
  }
  if (!rounds.empty()) absl::StrAppend(&text, ", in rounds: ", absl::StrJoin(rounds, ", "));
  return text;
}

}  // namespace vramtrack
