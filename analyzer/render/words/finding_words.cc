// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/words/finding_words.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/function_name.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/site_places.h"
#include "analyzer/model/whole_leak.h"
#include "analyzer/render/words/answer_words.h"

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

std::string FrameworkOn(const Report& report, uint32_t device) {
  for (const ReportProcess& process : report.processes) {
    for (const ReportAllocator& allocator : process.allocators) {
      if (allocator.device == device) return Printable(allocator.framework);
    }
  }
  return "PyTorch";
}

// The state of the allocator that gave up.
std::string Framework(const Report& report, const ReportOom& oom) {
  if (oom.level != Level::kFramework || !oom.live || !oom.reserved) return "";
  return absl::StrCat(FrameworkOn(report, oom.device), ": ", BytesText(*oom.live), " of ", BytesText(*oom.reserved),
                      " reserved in use.");
}

// What was needed, what that takes from the driver, and what was free for it.
std::string Request(const Report& report, const ReportOom& oom) {
  std::string text = BytesText(oom.requested);
  const std::string at = oom.step ? absl::StrCat(" at step ", *oom.step) : "";
  if (oom.level == Level::kFramework) {
    const std::string framework = FrameworkOn(report, oom.device);
    absl::StrAppend(&text, " for a tensor");
    if (oom.segment_bytes) absl::StrAppend(&text, ", ", BytesText(*oom.segment_bytes), " asked of the driver");
    if (oom.device_free) {
      absl::StrAppend(&text, "; device ", oom.device, " had ", BytesText(*oom.device_free), " free");
      const std::optional<uint64_t> hole = oom.pool_hole ? oom.pool_hole : oom.largest_hole;
      if (hole) absl::StrAppend(&text, ", and ", framework, " no hole");
      if (hole && *hole > 0) absl::StrAppend(&text, " larger than ", BytesText(*hole));
    }
    return text + at;
  }
  absl::StrAppend(&text, " requested");
  if (oom.free) {
    const uint64_t whole = std::min(oom.largest_free.value_or(*oom.free), *oom.free);
    absl::StrAppend(&text, "; device ", oom.device, " had ", BytesText(whole), " free");
    if (*oom.free > whole) absl::StrAppend(&text, ", and ", BytesText(*oom.free - whole), " in holes of used pages");
  } else {
    absl::StrAppend(&text, " on device ", oom.device);
  }
  return text + at;
}

// What a colleague would say who has looked at the steps before.
std::string Difference(const ReportOom& oom) {
  if (!oom.compared_step) return "";
  std::string text;
  if (oom.now > oom.then) {
    text = absl::StrCat("That is ", BytesText(oom.now - oom.then), " more than in step ", *oom.compared_step,
                        oom.same_point ? ", at the same point of it." : ", at its peak.");
  } else {
    text = absl::StrCat("Step ", *oom.compared_step, ", which succeeded, held as much",
                        oom.same_point ? " at the same point." : " at its peak.");
  }
  if (oom.size_change == SizeChange::kSame) {
    absl::StrAppend(&text, " This step's own allocations are as large as before.");
  } else if (oom.size_change) {
    absl::StrAppend(
        &text, " This step allocates ", absl::StrFormat("%.1f", oom.size_ratio.value_or(0)),
        " times what the steps before did at the same lines: ",
        oom.size_change == SizeChange::kLarger ? "longer sequences or a larger batch." : "the batch is not larger.");
  }
  return text;
}

std::string Setting(const ReportOom& oom) {
  if (oom.would_fit.empty() || (oom.answer && oom.answer->leak)) return "";
  const auto& [setting, bytes] = oom.would_fit.front();
  return absl::StrCat("It would have fit with ", setting,
                      " (largest request that would have succeeded: ", BytesText(bytes), ").");
}

constexpr size_t kMostNames = 6;

// The least and the most of one of the things in which the ranks differ.
std::pair<double, double> RangeOf(const DifferingRanks& group, size_t difference,
                                  double ReportRank::Difference::*figure) {
  const auto [low, high] =
      std::minmax_element(group.begin(), group.end(), [&](const ReportRank* a, const ReportRank* b) {
        return a->differs[difference].*figure < b->differs[difference].*figure;
      });
  return {(*low)->differs[difference].*figure, (*high)->differs[difference].*figure};
}

// "leaks ..., where most others do not": with another verb of several ranks.
std::string Reason(const Report& report, const SitePlaces& places, const DifferingRanks& group, size_t index) {
  const ReportRank::Difference& difference = group[0]->differs[index];
  const bool several = group.size() > 1;
  const auto verb = [several](const char* one) { return absl::StrCat(one, several ? "" : "s", " "); };
  const std::string value = ByteSpan(RangeOf(group, index, &ReportRank::Difference::value));
  if (difference.what == RankFigure::kLeak) {
    const ReportSite* site = FindSite(report, difference.site);
    std::string text =
        absl::StrCat(verb("leak"), value, " per ", NameOf(site == nullptr ? RateUnit::kStep : site->rate_unit));
    const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
    if (frame != nullptr) absl::StrAppend(&text, " at ", FramePlace(frame));
    return absl::StrCat(text, ", where ", report.ranks.size() == 2 ? "the other does" : "most others do", " not");
  }
  const std::string others = report.ranks.size() == 2 ? "the other has " : "the others have ";
  const std::string usual =
      absl::StrCat(" (", others, ByteSpan(RangeOf(group, index, &ReportRank::Difference::usual)), ")");
  if (difference.what == RankFigure::kGrowth) return absl::StrCat(verb("grow"), "by ", value, " per step", usual);
  if (difference.what == RankFigure::kPeak) return absl::StrCat(verb("peak"), "at ", value, usual);
  if (difference.what == RankFigure::kCategory) {
    return absl::StrCat(verb("hold"), value, " of ", CategoryText(difference.category), " at ",
                        several ? "their peaks" : "its peak", usual);
  }
  return absl::StrCat(verb("hold"), value, " at the end", usual);
}

// "ranks 3, 7, 11 and 397 more"
std::string NamesOf(const DifferingRanks& group) {
  if (group.size() == 1) return RankName(*group[0]);
  std::vector<std::string> names;
  const bool by_rank = group[0]->rank.has_value();
  for (size_t i = 0; i < group.size() && i < kMostNames; ++i) {
    names.push_back(by_rank ? absl::StrCat(*group[i]->rank) : absl::StrCat(group[i]->pid));
  }
  std::string last;
  if (group.size() > kMostNames) {
    last = FormatCount(group.size() - kMostNames) + " more";
  } else {
    last = names.back();
    names.pop_back();
  }
  return absl::StrCat(by_rank ? "ranks " : "processes ", absl::StrJoin(names, ", "), " and ", last);
}

}  // namespace

const VerdictWords& WordsOf(Verdict verdict) {
  static constexpr VerdictWords kWords[] = {
      {"leak", "leaks "},
      {"accelerating leak", "leaks faster and faster: "},
      {"growing buffer", "buffer grows by "},
      {"minor leak", "leaks a little: "},
      {"slows down", "grows, but slows down"},
      {"freed after phase", "grows within a phase, then is freed"},
      {"freed in bursts", "is freed in batches, probably by gc"},
      {"kept, no growth", ""},
      {"fragmentation", "fragmentation grows"},
      {"steady", ""},
      {"may leak", "cannot be judged yet"},
  };
  static_assert(std::size(kWords) == std::size(EnumNames<Verdict>::kNames), "one row for each verdict");
  return kWords[static_cast<size_t>(verdict)];
}

std::string LeakTitle(const ReportSite& site) {
  return IsLeak(site) ? absl::AsciiStrToUpper(WordsOf(site.verdict).name) : "LEAK";
}

std::string StateText(const Report& report, const ReportSite& site) {
  const bool unjudged = site.verdict == Verdict::kInsufficientEvidence && report.steps.count == 0;
  return unjudged ? "no steps found" : WordsOf(site.verdict).name;
}

const char* ToneOf(Verdict verdict) {
  if (IsLeak(verdict)) return "bad";
  return verdict == Verdict::kSteady || verdict == Verdict::kOneTime ? "good" : "unsure";
}

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

OomWords WordsOf(const Report& report, const ReportOom& oom, const OomLines& lines) {
  OomWords words{HeadlineOf(report, oom, lines),
                 Request(report, oom),
                 Framework(report, oom),
                 Setting(oom),
                 Difference(oom),
                 lines.Holders(oom),
                 lines.Of(oom.changes)};
  words.grown.erase(
      std::remove_if(words.grown.begin(), words.grown.end(), [](const OomLine& line) { return line.now <= line.then; }),
      words.grown.end());
  return words;
}

std::vector<DifferingRanks> RankGroups(const Report& report, const SitePlaces& places) {
  std::vector<DifferingRanks> groups;
  std::map<std::vector<std::string>, size_t> by_things;
  for (const ReportRank& rank : report.ranks) {
    if (rank.differs.empty()) continue;
    std::vector<std::string> things;
    for (const ReportRank::Difference& difference : rank.differs) {
      // The ranks of a machine have the same line as sites of different devices.
      const ReportSite* site = FindSite(report, difference.site);
      const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
      things.insert(things.end(),
                    {NameOf(difference.what), difference.category, frame == nullptr ? "" : FrameLocation(*frame)});
    }
    const auto [group, is_new] = by_things.try_emplace(std::move(things), groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(&rank);
  }
  return groups;
}

std::vector<std::string> RankReasons(const Report& report, const SitePlaces& places, const DifferingRanks& group) {
  std::vector<std::string> reasons;
  for (size_t i = 0; i < group[0]->differs.size(); ++i) reasons.push_back(Reason(report, places, group, i));
  return reasons;
}

std::string RankSentence(const Report& report, const SitePlaces& places, const DifferingRanks& group) {
  const char* const they = group.size() > 1 ? "they " : "it ";
  const char* const differ = group.size() > 1 ? " differ: " : " differs: ";
  return absl::StrCat(NamesOf(group), differ, they,
                      absl::StrJoin(RankReasons(report, places, group), absl::StrCat("; ", they)));
}

std::string RankName(const ReportRank& rank) { return ProcessName(rank.rank, rank.pid); }

std::string ByteSpan(const std::pair<double, double>& range) {
  const std::string low = FormatByteCount(range.first), high = FormatByteCount(range.second);
  return low == high ? low : absl::StrCat(low, " to ", high);
}

}  // namespace vramtrack
