// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/sections.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/model/site_places.h"
#include "analyzer/render/text/answer_words.h"

namespace vramtrack {
namespace {

constexpr int kIndent = 6;

std::string Bytes(uint64_t count) { return FormatByteCount(static_cast<double>(count)); }

// The state of the allocator that gave up.
std::string Framework(const ReportOom& oom) {
  std::string text = absl::StrCat("PyTorch: ", Bytes(*oom.live), " of ", Bytes(*oom.reserved),
                                  " reserved in use, largest free block ", Bytes(*oom.largest_hole), ".");
  if (oom.device_free) absl::StrAppend(&text, " Device: ", Bytes(*oom.device_free), " free.");
  return text;
}

// Why a hole is of no use: a pool's segments serve that pool only. Empty where that is not the reason.
std::string OtherPool(const ReportOom& oom) {
  if (!oom.pool || !oom.pool_hole || !oom.segment_bytes || !oom.largest_hole) return "";
  if (*oom.pool_hole >= oom.requested || *oom.largest_hole < oom.requested) return "";
  return absl::StrCat(Bytes(oom.requested), " needs ", Bytes(*oom.segment_bytes), " from the device, for a segment of ",
                      "the ", NameOf(*oom.pool), " pool; the ", Bytes(*oom.largest_hole), " free block is in the ",
                      oom.pool == BlockSizeClass::kSmall ? "large" : "small", " pool.");
}

// What sites of one line hold together, or those of one leak.
struct PlaceLine {
  std::string place;
  bool leak = false;
  uint64_t sites = 0;
  uint64_t then = 0, now = 0;  // bytes
};

// What a colleague would say who has looked at the steps before.
std::string Difference(const ReportOom& oom) {
  const auto bytes = [](uint64_t count) { return FormatByteCount(static_cast<double>(count)); };
  std::string text;
  if (oom.now > oom.then) {
    text = absl::StrCat("That is ", bytes(oom.now - oom.then), " more than in step ", *oom.compared_step,
                        oom.same_point ? ", at the same point of it." : ", at its peak.");
  } else {
    text = absl::StrCat("Step ", *oom.compared_step, ", which succeeded, held as much",
                        oom.same_point ? " at the same point." : " at its peak.");
  }
  constexpr double kLarger = 1.1;
  if (oom.size_ratio && (*oom.size_ratio > kLarger || *oom.size_ratio < 1 / kLarger)) {
    absl::StrAppend(&text, " This step allocates ", absl::StrFormat("%.1f", *oom.size_ratio),
                    " times what the steps before did at the same lines: ",
                    *oom.size_ratio > 1 ? "longer sequences or a larger batch." : "the batch is not larger.");
  } else if (oom.size_ratio) {
    absl::StrAppend(&text, " This step's own allocations are as large as before.");
  }
  return text;
}

// The places of `changes`, what grew most first.
std::vector<PlaceLine> PlacesOf(const Report& report, const std::vector<ReportOom::Change>& changes) {
  const SitePlaces places(report);
  std::vector<PlaceLine> lines;
  for (const ReportOom::Change& change : changes) {
    const ReportSite* site = FindSite(report, change.site);
    if (const ReportSite* leader = site == nullptr ? nullptr : FindSite(report, site->part_of)) site = leader;
    const ReportFrame* frame = site == nullptr ? nullptr : places.Of(*site);
    const std::string place = frame == nullptr ? absl::StrCat("site ", Printable(change.site))
                                               : absl::StrCat(FrameLocation(*frame), FunctionBehindLocation(*frame));
    const bool leak = site != nullptr && IsLeak(*site);
    auto found = std::find_if(lines.begin(), lines.end(),
                              [&](const PlaceLine& line) { return line.place == place && line.leak == leak; });
    if (found == lines.end()) found = lines.insert(lines.end(), {place, leak});
    ++found->sites;
    found->then += change.then;
    found->now += change.now;
  }
  const auto growth = [](const PlaceLine& line) {
    return static_cast<int64_t>(line.now) - static_cast<int64_t>(line.then);
  };
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const PlaceLine& a, const PlaceLine& b) { return growth(a) > growth(b); });
  return lines;
}

void WritePlace(const std::string& figures, const PlaceLine& line, Page* page) {
  const TextStyle& style = page->style();
  const std::string begin = absl::StrCat(figures, "  ", Painted(style, Paint::kAlarm, line.leak ? "leak  " : "      "));
  const std::string sites = line.sites > 1 ? absl::StrCat("  (", Plural(line.sites, "site", "sites"), ")") : "";
  const int left = style.columns - kIndent - DisplayWidth(begin) - DisplayWidth(sites);
  page->Line(absl::StrCat(begin, CutEnd(line.place, left), Painted(style, Paint::kDim, sites)), kIndent);
}

// The share of what was held from which on one line is the answer.
constexpr double kAnswerShare = 0.3;

struct HeldMost {
  std::string words;  // empty: no line holds that much
  bool leak = false;
};

// Who held the memory: the leaks, if they held much, or the line that held most. `all`: bytes held.
HeldMost WhoHeldMost(const std::vector<PlaceLine>& holders, uint64_t all) {
  const PlaceLine* most = nullptr;
  uint64_t leaked = 0, leaks = 0;
  for (const PlaceLine& line : holders) {
    leaked += line.leak ? line.now : 0;
    leaks += line.leak;
    if (most == nullptr || (line.leak && !most->leak) || (line.leak == most->leak && line.now > most->now))
      most = &line;
  }
  const auto is_much = [all](uint64_t bytes) {
    return all > 0 && static_cast<double>(bytes) >= kAnswerShare * static_cast<double>(all);
  };
  const auto share = [all](uint64_t bytes) {
    return FormatPercent(std::min(1.0, static_cast<double>(bytes) / static_cast<double>(all)));
  };
  if (most != nullptr && is_much(leaked)) {
    const std::string others = leaks == 1 ? "" : absl::StrCat(" and ", Plural(leaks - 1, "other leak", "other leaks"));
    return {absl::StrCat(share(leaked), " (", Bytes(leaked), ") was held by the leak at ", most->place, others, "."),
            true};
  }
  most = nullptr;
  for (const PlaceLine& line : holders) {
    if (most == nullptr || line.now > most->now) most = &line;
  }
  if (most == nullptr || !is_much(most->now)) return {};
  return {absl::StrCat(share(most->now), " (", Bytes(most->now), ") was held by ", most->place, "."), false};
}

void WriteMore(size_t all, size_t shown, Page* page) {
  if (all > shown) page->Line(absl::StrCat("and ", FormatCount(all - shown), " more"), kIndent);
}

}  // namespace

std::string CauseWords(const ReportOom& oom) {
  if (oom.cause == OomCause::kAmount) return "Not enough memory was left.";
  if (oom.cause == OomCause::kContiguity) return "Enough memory was free, but fragmented: no piece was large enough.";
  return "Cause unclear: exhausted or fragmented.";
}

std::string RequestWords(const ReportOom& oom) {
  std::string text = FormatByteCount(static_cast<double>(oom.requested)) + " requested";
  if (oom.free) absl::StrAppend(&text, ", ", FormatByteCount(static_cast<double>(*oom.free)), " free");
  if (oom.largest_free) {
    absl::StrAppend(&text, " (largest piece ", FormatByteCount(static_cast<double>(*oom.largest_free)), ")");
  }
  absl::StrAppend(&text, " on device ", oom.device);
  if (oom.step) absl::StrAppend(&text, " at step ", *oom.step);
  return text;
}

void WriteOutOfMemory(const Report& report, size_t frames, size_t top, Page* page) {
  if (report.oom.empty()) return;
  const TextStyle& style = page->style();
  const ReportOom& oom = report.oom.back();
  page->Words(RequestWords(oom), 15, Paint::kBold, Painted(style, Paint::kAlarm, "OUT OF MEMORY"));
  std::string why = CauseWords(oom);
  if (report.oom.size() > 1) {
    absl::StrAppend(&why, " ", FormatCount(report.oom.size()), " allocations failed; this is the last.");
  }
  if (report.processes.size() > 1) {
    absl::StrAppend(&why, " Requested by ",
                    oom.rank ? absl::StrCat("rank ", *oom.rank) : absl::StrCat("process ", oom.pid), ".");
  }
  page->Words(why, kIndent);
  if (const std::string pool = OtherPool(oom); !pool.empty()) page->Words(pool, kIndent);
  std::vector<ReportOom::Change> held;
  uint64_t all_held = 0, of_holders = 0;
  for (const auto& [site, now] : oom.holders) {
    held.push_back({site, 0, now});
    of_holders += now;
  }
  for (const auto& [name, bytes] : oom.categories) all_held += bytes;
  const std::vector<PlaceLine> holders = PlacesOf(report, held);
  const HeldMost answer = WhoHeldMost(holders, std::max(all_held, of_holders));
  if (!answer.words.empty()) page->Words(answer.words, kIndent, Paint::kBold);
  if (oom.level == Level::kFramework && oom.live && oom.reserved && oom.largest_hole)
    page->Words(Framework(oom), kIndent);
  if (!oom.stack.empty()) {
    TextStyle narrower = style;
    narrower.columns -= kIndent - 2;
    // No frame is to blame: the last caller is only the victim.
    for (const std::string& line : StackLines(narrower, oom.stack, oom.stack.size(), frames)) {
      page->Line(line, kIndent - 2);
    }
  }
  if (const std::string categories = CategoriesText(oom.categories); !categories.empty()) {
    page->Words("held at that moment: " + categories, kIndent);
  } else if (!oom.holders.empty()) {
    page->Line("held at that moment:", kIndent);
  }
  for (size_t i = 0; i < holders.size() && i < top; ++i)
    WritePlace(PadLeft(Bytes(holders[i].now), 9), holders[i], page);
  WriteMore(holders.size(), top, page);
  WriteHeldBy(oom, kIndent, top, page);
  // A leak fills whatever a setting saves.
  if (!oom.would_fit.empty() && !answer.leak) {
    const auto& [setting, bytes] = oom.would_fit.front();
    page->Words(absl::StrCat("It would have fit with ", setting,
                             " (largest request that would have succeeded: ", Bytes(bytes), ")."),
                kIndent);
  }
  if (!oom.compared_step) return;
  page->Words(Difference(oom), kIndent);
  std::vector<PlaceLine> grown = PlacesOf(report, oom.changes);
  grown.erase(std::remove_if(grown.begin(), grown.end(), [](const PlaceLine& line) { return line.now <= line.then; }),
              grown.end());
  for (size_t i = 0; i < grown.size() && i < top; ++i) {
    const PlaceLine& line = grown[i];
    WritePlace(PadLeft(absl::StrCat("+", Bytes(line.now - line.then)), 10) +
                   PadLeft(absl::StrCat("  ", Bytes(line.then), " to ", Bytes(line.now)), 24),
               line, page);
  }
  WriteMore(grown.size(), top, page);
}

}  // namespace vramtrack
