// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/process_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/blame.h"
#include "analyzer/diff/change_text.h"
#include "analyzer/diff/comparable.h"
#include "analyzer/diff/compared_run.h"
#include "analyzer/diff/device_comparison.h"
#include "analyzer/diff/diff_site.h"
#include "analyzer/diff/join_diffs.h"
#include "analyzer/diff/run_profile.h"
#include "analyzer/diff/site_comparison.h"
#include "analyzer/diff/site_matching.h"
#include "analyzer/diff/step_windows.h"
#include "analyzer/findings/process_analysis.h"
#include "analyzer/findings/process_description.h"
#include "analyzer/findings/rate_units.h"

namespace vramtrack {
namespace {

constexpr double kSameSize = 0.02;  // of steps, and of what is in proportion to them

class Comparison {
 public:
  Comparison(const Trace& base, const Trace& next, const DiffOptions& options)
      : options_(options.analyze),
        sides_(MakeComparedRuns(base, next, &options_)),
        base_(*sides_[0]),
        next_(*sides_[1]),
        matching_(MatchSites(base_.sites, next_.sites, options.renames)) {}

  ProcessDiff Run() {
    DiffReport report = Compare();
    AddReported(base_, &base_sites_);
    AddReported(next_, &new_sites_);
    return {std::move(report), std::move(base_sites_), std::move(new_sites_)};
  }

 private:
  DiffReport Compare() {
    Describe(base_, &report_.base);
    Describe(next_, &report_.next);
    report_.reason = WhyNotComparable(base_, next_, matching_.matches);
    report_.comparable = report_.reason.empty();
    if (!report_.comparable) return std::move(report_);
    if (base_.analysis.plan().has_windows() && next_.analysis.plan().has_windows()) report_.rate_unit = kPerBytes;
    report_.inferred_renames = matching_.inferred;
    windows_ = CompareSteps(base_.analysis.run(), next_.analysis.run(), base_.sites, next_.sites, matching_.matches);
    report_.normaliser = windows_.normaliser;
    report_.tested = windows_.base.blocks >= kMinSample;
    AtOnce([this] { base_.Profile(matching_.matches, &SiteMatch::base, windows_.base); },
           [this] { next_.Profile(matching_.matches, &SiteMatch::next, windows_.next); });
    CompareSequences();
    FindChanges();
    CompareAllDevices();
    return std::move(report_);
  }

  void AtOnce(const std::function<void()>& base, const std::function<void()>& next) const {
    DoBoth(options_.threads, base, next);
  }

  static void Describe(const ComparedRun& side, DiffSide* to) {
    to->paths = {side.trace.path()};
    to->processes = {DescribeProcess(side.trace, side.analysis.ledger())};
    to->steps = DescribeSteps(side.analysis.ledger());
  }

  void CompareSequences() {
    // The order within the past of a trace of bounded size is not known.
    if (base_.trace.past() != nullptr || next_.trace.past() != nullptr) return;
    const EventSequence &base = base_.profile->sequence(), &next = next_.profile->sequence();
    report_.events = next.count();
    report_.identical = base.SameAs(next);
    report_.reordered = !report_.identical && base.SameEventsAs(next);
    if (report_.identical) return;
    const auto [begin, end] = EventSequence::PartsWithin(base, next);
    SequencePart of_base(base_.match_of_site, begin, end), of_next(next_.match_of_site, begin, end);
    AtOnce([&] { base_.ReplayWith({&of_base}); }, [&] { next_.ReplayWith({&of_next}); });
    size_t same = 0;
    const std::vector<SequenceEvent>&old = of_base.events(), &now = of_next.events();
    while (same < old.size() && same < now.size() && old[same].word == now[same].word) ++same;
    DiffDivergence divergence;
    divergence.event = begin + same;
    divergence.rank = next_.trace.definitions().process.rank;
    if (same < old.size()) divergence.base_frames = base_.Frames(old[same].site);
    if (same < now.size()) divergence.new_frames = next_.Frames(now[same].site);
    report_.first_divergence = std::move(divergence);
  }

  SiteEvidence EvidenceOf(const ComparedRun& side, size_t match, const std::vector<size_t>& members) const {
    SiteEvidence evidence;
    evidence.present = !members.empty();
    evidence.series = side.profile->Series(match);
    evidence.totals = side.profile->Totals(match);
    evidence.sizes = &side.profile->Sizes(match);
    const double scale = side.profile->window().per_unit * side.rate_scale();
    for (const size_t i : members) {
      for (const uint32_t site : side.sites[i].sites) {
        const LeakVerdict& verdict = side.analysis.verdicts()[site];
        evidence.judged &= verdict.verdict != Verdict::kInsufficientEvidence;
        if (!IsLeak(verdict.verdict)) continue;
        evidence.leak = true;
        evidence.rate.rate += verdict.rate_bytes_per_step * scale;
        evidence.rate.low += verdict.rate_ci_low * scale;
        evidence.rate.high += verdict.rate_ci_high * scale;
        evidence.objects_per_step += verdict.rate_objects_per_step * scale;
      }
    }
    return evidence;
  }

  const DiffSite& SiteOf(const SiteMatch& match) const {
    return match.next.empty() ? base_.sites[match.base[0]] : next_.sites[match.next[0]];
  }

  // Where the steps say that they are of another size, what a site has more or less of in proportion is that size's
  // doing.
  void LeaveOutScaled(std::vector<SiteChange>* changes) {
    const double old = base_.profile->step_size(), now = next_.profile->step_size();
    if (old <= 0 || now <= 0 || std::fabs(now / old - 1) <= kSameSize) return;
    size_t scaled = 0;
    for (SiteChange& change : *changes) {
      if (!change.found || change.base <= 0 || std::fabs(change.next / change.base / (now / old) - 1) > kSameSize)
        continue;
      ++scaled;
      change = {};
    }
    absl::StrAppend(&report_.normaliser, report_.normaliser.empty() ? "" : "; ", "a step of the base is of size ", old,
                    " and one of the new run of size ", now, " by their marks: ", scaled,
                    scaled == 1 ? " site" : " sites", " that changed in proportion left out");
  }

  bool IsSegments(const SiteMatch& match) const {
    return (!match.base.empty() && base_.sites[match.base[0]].segments) ||
           (!match.next.empty() && next_.sites[match.next[0]].segments);
  }

  // Of the device that a match is on, if both runs have it.
  std::optional<std::pair<const DeviceSeries*, const DeviceSeries*>> DevicesOf(const SiteMatch& sites) const {
    const auto of = [](const ComparedRun& side, const std::vector<size_t>& members) -> const DeviceSeries* {
      if (members.empty()) return nullptr;
      const auto found = side.profile->devices().find(side.sites[members[0]].device);
      return found == side.profile->devices().end() ? nullptr : &found->second;
    };
    const DeviceSeries *old = of(base_, sites.base), *now = of(next_, sites.next);
    if (old == nullptr || now == nullptr) return std::nullopt;
    return std::pair(old, now);
  }

  void FindChanges() {
    const std::vector<SiteMatch>& matches = matching_.matches;
    std::vector<SitePair> pairs;
    for (uint32_t m = 0; m < matches.size(); ++m) {
      SitePair pair;
      pair.base = EvidenceOf(base_, m, matches[m].base);
      pair.next = EvidenceOf(next_, m, matches[m].next);
      pair.handle = LevelOf(SiteOf(matches[m]).kind) == Level::kHandle;
      if (const auto devices = DevicesOf(matches[m])) {
        const auto [old, now] = *devices;
        pair.in_step = windows_.base.per_unit == windows_.next.per_unit && InStep(*old, *now);
        const auto same = [](uint32_t a, uint32_t b) { return a == b && a != DeviceSeries::kNoMaker; };
        pair.same_peak =
            same(old->maker, now->maker) && !pair.base.totals.several_threads && !pair.next.totals.several_threads;
      }
      report_.matched_sites += pair.base.present && pair.next.present;
      pairs.push_back(std::move(pair));
    }
    std::vector<SiteChange> changes = CompareSites(pairs, report_.tested, windows_.base.whole_run);
    // What the framework's blocks in them do is told by their own sites, what the allocator does by the devices.
    for (size_t m = 0; m < matches.size(); ++m) {
      if (changes[m].found && IsSegments(matches[m])) changes[m] = {};
    }
    LeaveOutScaled(&changes);
    FindBlame(changes);
    std::map<LeakOf, std::vector<uint32_t>> leaks;
    for (uint32_t m = 0; m < matches.size(); ++m) {
      AddToCategories(matches[m], pairs[m]);
      report_.small_changes += changes[m].small;
      if (changes[m].found) {
        if (const std::optional<LeakOf> leak = LeakOfChange(matches[m], changes[m])) {
          leaks[*leak].push_back(m);
        } else {
          AddFinding(pairs[m], Describe(m, pairs[m], changes[m]));
        }
      } else if (pairs[m].base.present && pairs[m].next.present && !IsSegments(matches[m]) && Moved(matches[m])) {
        AddMove(matches[m], pairs[m]);
      }
    }
    for (auto& [leak, members] : leaks) AddLeak(leak, std::move(members), pairs, changes);
    SortFindings(&report_);
  }

  // The frames that only changed sites go through name them: the innermost one is often a wrapper of all allocations.
  void FindBlame(const std::vector<SiteChange>& changes) {
    const auto visit = [&](bool changed, const std::function<void(BlameFinder*, const DiffSite&)>& add) {
      for (size_t m = 0; m < changes.size(); ++m) {
        if (changes[m].found != changed) continue;
        const SiteMatch& match = matching_.matches[m];
        for (const size_t i : match.base) add(&base_.blame, base_.sites[i]);
        for (const size_t i : match.next) add(&next_.blame, next_.sites[i]);
      }
    };
    visit(true, [](BlameFinder* blame, const DiffSite& site) { blame->AddLeak(site.frames); });
    visit(false, [](BlameFinder* blame, const DiffSite& site) {
      size_t at = 0;
      blame->AddClean([&]() -> std::vector<ReportFrame> {
        if (at == site.frames.size()) return {};
        return {site.frames[at++]};
      });
    });
  }

  bool Moved(const SiteMatch& match) const {
    return match.base.size() != match.next.size() ||
           LooksMoved(base_.sites[match.base[0]].frames, next_.sites[match.next[0]].frames);
  }

  std::string CategoryOf(const SiteMatch& match) {
    return match.next.empty() ? base_.analysis.Category(base_.sites[match.base[0]].sites[0])
                              : next_.analysis.Category(next_.sites[match.next[0]].sites[0]);
  }

  DiffFinding Begin(const SiteMatch& match, const SitePair& pair) {
    const DiffSite& site = SiteOf(match);
    DiffFinding finding;
    finding.level = LevelName(LevelOf(site.kind));
    finding.kind = KindName(site.kind);
    finding.category = CategoryOf(match);
    if (site.device != SiteKey::kHost) finding.device = site.device;
    if (!match.base.empty()) finding.base_site = KeyOf(base_.sites[match.base[0]], &base_sites_);
    if (!match.next.empty()) finding.new_site = KeyOf(next_.sites[match.next[0]], &new_sites_);
    finding.frames = site.frames;
    finding.leak = pair.next.leak;
    finding.base_leak = pair.base.leak;
    return finding;
  }

  static ReportSite Described(uint32_t kind, uint32_t device, const std::vector<ReportFrame>& frames) {
    ReportSite described;
    described.level = LevelName(LevelOf(kind));
    described.kind = KindName(kind);
    if (device != SiteKey::kHost) described.device = device;
    described.frames = frames;
    return described;
  }

  static std::string KeyOf(const DiffSite& site, SiteIds* ids) {
    return ids->Add(Described(site.kind, site.device, site.frames));
  }

  static void AddReported(const ComparedRun& side, SiteIds* ids) {
    for (const SiteGroup& group : side.analysis.groups()) {
      const SiteKey& key = side.analysis.ledger().sites()[group.sites[0]].key;
      ids->AddReported(Described(key.kind, key.device, group.frames));
    }
  }

  DiffFinding Describe(uint32_t m, const SitePair& pair, const SiteChange& change) {
    const SiteMatch& match = matching_.matches[m];
    DiffFinding finding = Begin(match, pair);
    finding.naming_frame = (match.next.empty() ? base_ : next_).blame.Blame(finding.frames);
    finding.base_value = change.base;
    finding.new_value = change.next;
    finding.unit = change.unit;
    finding.p_value = change.p_value;
    finding.effect_size = change.effect_size;
    finding.rate_unit = report_.rate_unit;
    finding.explanation = Explain(pair, change);
    return finding;
  }

  void AddFinding(const SitePair& pair, DiffFinding finding) {
    std::vector<DiffFinding>& list = !pair.base.present    ? report_.added
                                     : !pair.next.present  ? report_.gone
                                     : finding.delta() > 0 ? report_.grown
                                                           : report_.shrunk;
    list.push_back(std::move(finding));
  }

  // Of the changes of rates: the leak that the site belongs to in the run where there is more of it.
  struct LeakOf {
    bool of_next;
    size_t leak;
    std::string unit;

    bool operator<(const LeakOf& other) const {
      return std::tie(of_next, leak, unit) < std::tie(other.of_next, other.leak, other.unit);
    }
  };
  std::optional<LeakOf> LeakOfChange(const SiteMatch& match, const SiteChange& change) const {
    if (change.unit != "bytes_live_per_step" && change.unit != "objects_per_step") return std::nullopt;
    const bool more = change.next > change.base;
    const ComparedRun& side = more ? next_ : base_;
    for (const size_t i : more ? match.next : match.base) {
      for (const uint32_t site : side.sites[i].sites) {
        if (!IsLeak(side.analysis.verdicts()[site].verdict)) continue;
        const auto found = side.leak_of_group.find(side.analysis.GroupOf(site));
        if (found != side.leak_of_group.end()) return LeakOf{more, found->second, change.unit};
      }
    }
    return std::nullopt;
  }

  bool Leads(const LeakOf& leak, uint32_t m) const {
    const ComparedRun& side = leak.of_next ? next_ : base_;
    const std::vector<uint32_t>& leading = side.analysis.groups()[side.leaks[leak.leak].leader].sites;
    return std::any_of(leading.begin(), leading.end(), [&](uint32_t site) { return side.match_of_site[site] == m; });
  }

  // One leak is one finding, named by the site that leads it, with the others as its parts.
  void AddLeak(const LeakOf& leak, std::vector<uint32_t> members, const std::vector<SitePair>& pairs,
               const std::vector<SiteChange>& changes) {
    std::stable_sort(members.begin(), members.end(), [&](uint32_t a, uint32_t b) {
      const auto key = [&](uint32_t m) {
        return std::make_pair(!Leads(leak, m), -std::fabs(changes[m].next - changes[m].base));
      };
      return key(a) < key(b);
    });
    const uint32_t first = members[0];
    DiffFinding finding = Describe(first, pairs[first], changes[first]);
    if (members.size() == 1) return AddFinding(pairs[first], std::move(finding));
    const LeakGroup& group = (leak.of_next ? next_ : base_).leaks[leak.leak];
    if (group.call_frame && Leads(leak, first) && *group.call_frame < finding.frames.size()) {
      finding.naming_frame = *group.call_frame;
    }
    SiteChange whole = changes[first];
    SitePair all = pairs[first];
    for (size_t i = 1; i < members.size(); ++i) {
      const uint32_t m = members[i];
      whole.base += changes[m].base;
      whole.next += changes[m].next;
      all.base.leak |= pairs[m].base.leak;
      all.next.leak |= pairs[m].next.leak;
      finding.parts.push_back(Describe(m, pairs[m], changes[m]));
    }
    finding.base_value = whole.base;
    finding.new_value = whole.next;
    finding.leak = all.next.leak;
    finding.base_leak = all.base.leak;
    finding.explanation = absl::StrCat(Explain(all, whole), ", with ", members.size() - 1,
                                       members.size() == 2 ? " other site" : " other sites", " of the same leak");
    AddFinding(pairs[first], std::move(finding));
  }

  void AddMove(const SiteMatch& match, const SitePair& pair) {
    DiffFinding finding = Begin(match, pair);
    finding.base_value = static_cast<double>(pair.base.totals.bytes_at_peak);
    finding.new_value = static_cast<double>(pair.next.totals.bytes_at_peak);
    finding.unit = "bytes_at_peak";
    const DiffSite &old = base_.sites[match.base[0]], &now = next_.sites[match.next[0]];
    const size_t first = FirstDifference(old.frames, now.frames);
    finding.naming_frame = NamingFrame(finding.frames, first);
    finding.explanation =
        absl::StrCat("allocates as before; was at ", PlaceFrom(old, first), ", is at ", PlaceFrom(now, first));
    if (match.next.size() > 1) {
      absl::StrAppend(&finding.explanation, " and at ", PlaceFrom(next_.sites[match.next[1]], 0), ": it was split");
    } else if (match.base.size() > 1) {
      absl::StrAppend(&finding.explanation, ", where ", PlaceFrom(base_.sites[match.base[1]], 0),
                      " was merged into it");
    }
    report_.moved.push_back(std::move(finding));
  }

  std::string Explain(const SitePair& pair, const SiteChange& change) const {
    const bool doubtful = !report_.tested && !change.p_value;
    return absl::StrCat(ExplainChange(pair, change, report_.rate_unit),
                        doubtful ? "; there are too few steps to tell it from chance" : "");
  }

  void AddToCategories(const SiteMatch& match, const SitePair& pair) {
    const DiffSite& site = SiteOf(match);
    if (LevelOf(site.kind) == Level::kHandle || IsSegments(match)) return;
    CategorySeries& sum = categories_[site.device_ordinal][CategoryOf(match)];
    OwnSeries& own = own_[site.device_ordinal];
    const auto add = [](const std::vector<double>& from, std::vector<double>* to) {
      to->resize(from.size());
      for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
    };
    add(pair.base.series.at_peak, &sum.base);
    add(pair.next.series.at_peak, &sum.next);
    add(pair.base.series.own, &own.base);
    add(pair.next.series.own, &own.next);
    sum.base_at_peak += static_cast<double>(pair.base.totals.bytes_at_peak);
    sum.next_at_peak += static_cast<double>(pair.next.totals.bytes_at_peak);
  }

  void CompareAllDevices() {
    const auto devices = [](const ComparedRun& side) {
      std::vector<std::pair<uint32_t, const DeviceSeries*>> list;
      for (const auto& [device, series] : side.profile->devices()) {
        if (device != SiteKey::kHost) list.push_back({device, &series});
      }
      return list;
    };
    const auto base = devices(base_), next = devices(next_);
    static const DeviceSeries kNone;
    for (size_t i = 0; i < std::max(base.size(), next.size()); ++i) {
      const DeviceSeries& old = i < base.size() ? *base[i].second : kNone;
      const DeviceSeries& now = i < next.size() ? *next[i].second : kNone;
      const uint32_t index = i < next.size() ? next[i].first : base[i].first;
      report_.devices.push_back(CompareDevices(index, old, windows_.base, now, windows_.next,
                                               own_[static_cast<uint32_t>(i)], categories_[static_cast<uint32_t>(i)]));
      DiffValue& growth = report_.devices.back().growth;
      growth.base *= base_.rate_scale();
      growth.next *= next_.rate_scale();
    }
  }

  AnalyzeOptions options_;
  const std::array<std::unique_ptr<ComparedRun>, 2> sides_;
  ComparedRun &base_, &next_;
  const SiteMatching matching_;
  StepWindows windows_;
  std::map<uint32_t, std::map<std::string, CategorySeries>> categories_;  // by the device's ordinal
  std::map<uint32_t, OwnSeries> own_;                                     // likewise
  SiteIds base_sites_, new_sites_;
  DiffReport report_;
};

}  // namespace

ProcessDiff CompareProcesses(const Trace& base, const Trace& next, const DiffOptions& options) {
  return Comparison(base, next, options).Run();
}

DiffReport DiffProcesses(const Trace& base, const Trace& next, const DiffOptions& options) {
  ProcessDiff diff = CompareProcesses(base, next, options);
  NameSites(diff.base_sites, diff.new_sites, &diff.report);
  return std::move(diff.report);
}

}  // namespace vramtrack
