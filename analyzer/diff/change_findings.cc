// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/change_findings.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/quantity.h"
#include "analyzer/job/site_id.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/ledger/site_table.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {
namespace {

bool SameShownPlace(const ReportFrame& a, const ReportFrame& b) {
  return a.function == b.function && a.line == b.line &&
         (a.shown_file.empty() ? a.file : a.shown_file) == (b.shown_file.empty() ? b.file : b.shown_file);
}

std::string ExplainChange(const SitePair& pair, const SiteChange& change, RateUnit rate_unit) {
  const std::string old = FormatByteCount(change.base), now = FormatByteCount(change.next);
  const std::string per = absl::StrCat(" per ", NameOf(rate_unit));
  if (change.unit == ChangeUnit::kBytesLivePerStep) {
    if (!pair.next.leak) return absl::StrCat("no longer leaks ", old, per);
    return pair.base.leak ? absl::StrCat("leaks ", now, per, ", where it leaked ", old)
                          : absl::StrCat("leaks ", now, per, ", which the base does not");
  }
  if (change.unit == ChangeUnit::kObjectsPerStep) {
    return absl::StrCat("leaves ", change.next, " objects behind", per, ", where it left ", change.base);
  }
  if (change.unit == ChangeUnit::kBytesAtPeak) {
    if (!pair.base.present) return absl::StrCat("holds ", now, " at the peak, and was not there before");
    if (!pair.next.present) return absl::StrCat("held ", old, " at the peak, and is not there any more");
    return absl::StrCat("holds ", now, " at the peak, where it held ", old);
  }
  const char* in = rate_unit == RateUnit::kStep ? " in a step" : " in a window";
  if (!pair.base.present) return absl::StrCat("allocates ", now, in, ", and was not there before");
  if (!pair.next.present) return absl::StrCat("allocated ", old, in, ", and is not there any more");
  return absl::StrCat("allocates ", now, in, ", where it allocated ", old);
}

// The innermost frame in which a reader sees two stacks as different; none if they look the same.
std::optional<size_t> FirstDifference(const std::vector<ReportFrame>& old, const std::vector<ReportFrame>& now) {
  const size_t both = std::min(old.size(), now.size());
  for (size_t i = 0; i < both; ++i) {
    if (!SameShownPlace(old[i], now[i])) return i;
  }
  return old.size() == now.size() ? std::nullopt : std::optional<size_t>(0);
}

// The file and line of the frame that names the site, looked for from the frame `from` on.
std::string PlaceFrom(const ProfileSite& site, size_t from) {
  if (site.frames.empty()) return "an unknown place";
  const ReportFrame& frame = site.frames[NamingFrame(site.frames, std::min(from, site.frames.size() - 1))];
  return frame.file.empty() && frame.shown_file.empty() ? frame.function : FrameLocation(frame);
}

}  // namespace

void ChangeFindings::Add(const std::vector<SiteChange>& changes) {
  const std::vector<SitePair>& evidence = pair_.evidence;
  const std::vector<SiteMatch>& matches = pair_.matches();
  FindBlame(changes);
  std::map<LeakOf, std::vector<size_t>> leaks;
  for (size_t m = 0; m < matches.size(); ++m) {
    if (changes[m].found) {
      if (const std::optional<LeakOf> leak = LeakOfChange(matches[m], changes[m])) {
        leaks[*leak].push_back(m);
      } else {
        AddFinding(m, Describe(m, changes[m]));
      }
    } else if (evidence[m].base.present && evidence[m].next.present && !pair_.IsSegments(matches[m]) &&
               Moved(matches[m])) {
      AddMove(m);
    }
  }
  for (auto& [leak, members] : leaks) AddLeak(leak, std::move(members), changes);
}

// The frames that only changed sites go through name them: the innermost one is often a wrapper of all allocations.
void ChangeFindings::FindBlame(const std::vector<SiteChange>& changes) {
  const auto visit = [&](bool changed, const std::function<void(BlameFinder*, const ProfileSite&)>& add) {
    for (size_t m = 0; m < changes.size(); ++m) {
      if (changes[m].found != changed) continue;
      const SiteMatch& match = pair_.matches()[m];
      for (const size_t i : match.base) add(&base_blame_, pair_.base.sites()[i]);
      for (const size_t i : match.next) add(&next_blame_, pair_.next.sites()[i]);
    }
  };
  visit(true, [](BlameFinder* blame, const ProfileSite& site) { blame->AddLeak(site.frames); });
  visit(false, [](BlameFinder* blame, const ProfileSite& site) {
    size_t at = 0;
    blame->AddClean([&]() -> std::vector<ReportFrame> {
      if (at == site.frames.size()) return {};
      return {site.frames[at++]};
    });
  });
}

bool ChangeFindings::Moved(const SiteMatch& match) const {
  return match.base.size() != match.next.size() ||
         FirstDifference(pair_.base.sites()[match.base[0]].frames, pair_.next.sites()[match.next[0]].frames);
}

DiffFinding ChangeFindings::Begin(size_t m) {
  const SiteMatch& match = pair_.matches()[m];
  const auto key = [](const ProfileSite& site, DiffSiteIds* ids) {
    return ids->Add(SiteOutline(site.kind, site.segments, site.device, site.frames));
  };
  const ProfileSite& site = pair_.SiteOf(match);
  DiffFinding finding;
  finding.level = LevelOf(site.kind, site.segments);
  finding.kind = KindName(site.kind);
  finding.category = site.category;
  finding.device = site.device;
  if (!match.base.empty()) finding.base_site = key(pair_.base.sites()[match.base[0]], &base_ids_);
  if (!match.next.empty()) finding.new_site = key(pair_.next.sites()[match.next[0]], &next_ids_);
  finding.frames = site.frames;
  finding.leak = pair_.evidence[m].next.leak;
  finding.base_leak = pair_.evidence[m].base.leak;
  return finding;
}

DiffFinding ChangeFindings::Describe(size_t m, const SiteChange& change) {
  DiffFinding finding = Begin(m);
  finding.naming_frame = (finding.new_site ? next_blame_ : base_blame_).Blame(finding.frames);
  finding.base_value = change.base;
  finding.new_value = change.next;
  finding.unit = change.unit;
  finding.p_value = change.p_value;
  finding.effect_size = change.effect_size;
  finding.rate_unit = report_.rate_unit;
  finding.explanation = Explain(pair_.evidence[m], change);
  return finding;
}

std::string ChangeFindings::Explain(const SitePair& evidence, const SiteChange& change) const {
  // Of a leak that is gone the headline says so.
  const bool gone = evidence.base.leak && !evidence.next.leak;
  const bool doubtful = !report_.tested && !change.p_value && !gone;
  return absl::StrCat(ExplainChange(evidence, change, report_.rate_unit),
                      doubtful ? "; too few steps to rule out chance" : "");
}

void ChangeFindings::AddFinding(size_t m, DiffFinding finding) {
  const SitePair& evidence = pair_.evidence[m];
  std::vector<DiffFinding>& list = !evidence.base.present   ? report_.added
                                   : !evidence.next.present ? report_.gone
                                   : finding.delta() > 0    ? report_.grown
                                                            : report_.shrunk;
  list.push_back(std::move(finding));
}

std::optional<ChangeFindings::LeakOf> ChangeFindings::LeakOfChange(const SiteMatch& match,
                                                                   const SiteChange& change) const {
  if (change.unit != ChangeUnit::kBytesLivePerStep && change.unit != ChangeUnit::kObjectsPerStep) return std::nullopt;
  const bool more = change.next > change.base;
  const std::vector<ProfileSite>& sites = (more ? pair_.next : pair_.base).sites();
  for (const size_t i : more ? match.next : match.base) {
    if (sites[i].leak) return LeakOf{more, *sites[i].leak, change.unit};
  }
  return std::nullopt;
}

const ProfileLeak& ChangeFindings::LeakNamed(const LeakOf& leak) const {
  return (leak.of_next ? pair_.next : pair_.base).profile().leaks[leak.leak];
}

bool ChangeFindings::Leads(const LeakOf& leak, size_t m) const {
  const SiteMatch& match = pair_.matches()[m];
  const std::vector<uint64_t>& leading = LeakNamed(leak).leading;
  const std::vector<size_t>& members = leak.of_next ? match.next : match.base;
  return std::any_of(leading.begin(), leading.end(),
                     [&](uint64_t site) { return std::find(members.begin(), members.end(), site) != members.end(); });
}

// One leak is one finding, named by the site that leads it, with the others as its parts.
void ChangeFindings::AddLeak(const LeakOf& leak, std::vector<size_t> members, const std::vector<SiteChange>& changes) {
  std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) {
    const auto key = [&](size_t m) {
      return std::make_pair(!Leads(leak, m), -std::fabs(changes[m].next - changes[m].base));
    };
    return key(a) < key(b);
  });
  const size_t first = members[0];
  DiffFinding finding = Describe(first, changes[first]);
  if (members.size() == 1) return AddFinding(first, std::move(finding));
  const ProfileLeak& group = LeakNamed(leak);
  if (group.call_frame && Leads(leak, first) && *group.call_frame < finding.frames.size()) {
    finding.naming_frame = *group.call_frame;
  }
  SiteChange whole = changes[first];
  SitePair all = pair_.evidence[first];
  for (size_t i = 1; i < members.size(); ++i) {
    const size_t m = members[i];
    whole.base += changes[m].base;
    whole.next += changes[m].next;
    all.base.leak |= pair_.evidence[m].base.leak;
    all.next.leak |= pair_.evidence[m].next.leak;
    finding.parts.push_back(Describe(m, changes[m]));
  }
  finding.base_value = whole.base;
  finding.new_value = whole.next;
  finding.leak = all.next.leak;
  finding.base_leak = all.base.leak;
  finding.explanation = absl::StrCat(Explain(all, whole), ", with ", members.size() - 1,
                                     members.size() == 2 ? " other site" : " other sites", " of the same leak");
  AddFinding(first, std::move(finding));
}

void ChangeFindings::AddMove(size_t m) {
  const SiteMatch& match = pair_.matches()[m];
  const SitePair& evidence = pair_.evidence[m];
  DiffFinding finding = Begin(m);
  finding.base_value = static_cast<double>(evidence.base.bytes_at_peak);
  finding.new_value = static_cast<double>(evidence.next.bytes_at_peak);
  finding.unit = ChangeUnit::kBytesAtPeak;
  const ProfileSite &old = pair_.base.sites()[match.base[0]], &now = pair_.next.sites()[match.next[0]];
  const size_t first = FirstDifference(old.frames, now.frames).value_or(0);
  finding.naming_frame = NamingFrame(finding.frames, first);
  finding.explanation =
      absl::StrCat("allocates as before; was at ", PlaceFrom(old, first), ", is at ", PlaceFrom(now, first));
  if (match.next.size() > 1) {
    absl::StrAppend(&finding.explanation, " and at ", PlaceFrom(pair_.next.sites()[match.next[1]], 0),
                    ": it was split");
  } else if (match.base.size() > 1) {
    absl::StrAppend(&finding.explanation, ", where ", PlaceFrom(pair_.base.sites()[match.base[1]], 0),
                    " was merged into it");
  }
  report_.moved.push_back(std::move(finding));
}

namespace {

DiffDivergence FindDivergence(const ComparedPair& pair) {
  const ComparedProcess &base = pair.base, &next = pair.next;
  const std::pair<uint64_t, uint64_t> within = EventSequence::PartsWithin(base.sequence(), next.sequence());
  const uint64_t begin = within.first, end = within.second;
  std::vector<SequenceEvent> old, now;
  DoBoth(
      pair.threads, [&] { old = base.Part(begin, end); }, [&] { now = next.Part(begin, end); });
  size_t same = 0;
  while (same < old.size() && same < now.size() && old[same].word == now[same].word) ++same;
  DiffDivergence divergence;
  divergence.event = begin + same;
  divergence.rank = next.facts().side.processes[0].rank;
  if (same < old.size()) divergence.base_frames = base.FramesOf(old[same].site);
  if (same < now.size()) divergence.new_frames = next.FramesOf(now[same].site);
  return divergence;
}

// Sites are numbered as they first allocate: with the same numbers on both sides the same numbers happened.
bool NumberedAlike(const ComparedPair& pair, const StepProfile& base, const StepProfile& next) {
  if (base.sites_hash == next.sites_hash) return true;
  const std::vector<SiteMatch>& matches = pair.matches();
  return base.other_sites == 0 && next.other_sites == 0 &&
         std::all_of(matches.begin(), matches.end(), [&](const SiteMatch& match) {
           return match.base.size() == 1 && match.next.size() == 1 &&
                  base.sites[match.base[0]].number == next.sites[match.next[0]].number;
         });
}

bool SameOfEachSite(const ComparedPair& pair, const StepProfile& base, const StepProfile& next) {
  if (base.other_sites > 0 || next.other_sites > 0) return false;
  const auto sum = [](const StepProfile& profile, const std::vector<size_t>& members) {
    std::pair<uint64_t, uint64_t> events;
    for (const size_t i : members) {
      events.first += profile.sites[i].events;
      events.second += profile.sites[i].event_sum;
    }
    return events;
  };
  const std::vector<SiteMatch>& matches = pair.matches();
  return std::all_of(matches.begin(), matches.end(),
                     [&](const SiteMatch& match) { return sum(base, match.base) == sum(next, match.next); });
}

}  // namespace

void CompareSequences(const ComparedPair& pair, DiffReport* report) {
  const StepProfile &base = pair.base.profile(), &next = pair.next.profile();
  if (!base.ordered || !next.ordered) return;
  report->events = next.events;
  // Events of two traces are numbered by match, and it can be said where they part.
  const bool traced = pair.base.has_trace() && pair.next.has_trace();
  const bool alike = base.events == next.events;
  report->identical = alike && base.event_hash == next.event_hash && (traced || NumberedAlike(pair, base, next));
  if (report->identical) return;
  report->reordered =
      alike && (traced ? pair.base.sequence().SameEventsAs(pair.next.sequence()) : SameOfEachSite(pair, base, next));
  if (traced) report->first_divergence = FindDivergence(pair);
}

}  // namespace vramtrack
