// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/process_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/blame.h"
#include "analyzer/diff/device_comparison.h"
#include "analyzer/diff/diff_site.h"
#include "analyzer/diff/join_diffs.h"
#include "analyzer/diff/run_profile.h"
#include "analyzer/diff/site_comparison.h"
#include "analyzer/diff/site_matching.h"
#include "analyzer/diff/step_windows.h"
#include "analyzer/findings/leak_findings.h"
#include "analyzer/findings/leak_groups.h"
#include "analyzer/findings/process_analysis.h"
#include "analyzer/findings/process_description.h"
#include "analyzer/leaks/explanation.h"

namespace vramtrack {
namespace {

// With less of what both runs allocate at sites that they share, they are not two runs of one program.
constexpr double kLeastShared = 0.2;

constexpr double kSameSize = 0.02;  // of steps, and of what is in proportion to them

// One of the two processes.
struct Side {
  Side(const Trace& traced, const AnalyzeOptions& options)
      : trace(traced), analysis(traced, options), sites(CollectSites(&analysis)) {}

  const Trace& trace;
  ProcessAnalysis analysis;
  std::vector<DiffSite> sites;
  std::vector<uint32_t> match_of_site;  // of the ledger
  std::unique_ptr<RunProfile> profile;
  BlameFinder blame;
  std::unique_ptr<LeakOrder> order;
  std::vector<LeakGroup> leaks;
  std::map<size_t, size_t> leak_of_group;  // by index into ProcessAnalysis::groups()
};

class Comparison {
 public:
  Comparison(const Trace& base, const Trace& next, const DiffOptions& options)
      : sides_(MakeSides(base, next, options.analyze)),
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
    if (!CheckComparable()) return std::move(report_);
    report_.inferred_renames = matching_.inferred;
    windows_ = CompareSteps(base_.analysis.run(), next_.analysis.run(), base_.sites, next_.sites, matching_.matches);
    report_.normaliser = windows_.normaliser;
    report_.tested = windows_.base.blocks >= kMinSample;
    AtOnce([this] { Replay(windows_.base, &SiteMatch::base, &base_); },
           [this] { Replay(windows_.next, &SiteMatch::next, &next_); });
    CompareSequences();
    FindChanges();
    CompareAllDevices();
    return std::move(report_);
  }

  static std::array<std::unique_ptr<Side>, 2> MakeSides(const Trace& base, const Trace& next,
                                                        const AnalyzeOptions& options) {
    std::array<std::unique_ptr<Side>, 2> sides;
    const auto make = [&options](const Trace& trace) { return std::make_unique<Side>(trace, options); };
    Both(
        options.threads, [&] { sides[0] = make(base); }, [&] { sides[1] = make(next); });
    return sides;
  }

  // Does the same on both sides, in two threads if there may be as many.
  static void Both(size_t threads, const std::function<void()>& base, const std::function<void()>& next) {
    if (threads == 1) {
      base();
      next();
      return;
    }
    std::thread other(base);
    next();
    other.join();
  }
  void AtOnce(const std::function<void()>& base, const std::function<void()>& next) const {
    Both(base_.analysis.options().threads, base, next);
  }

  static void Describe(const Side& side, DiffSide* to) {
    to->paths = {side.trace.path()};
    to->processes = {DescribeProcess(side.trace, side.analysis.ledger())};
    to->steps = DescribeSteps(side.analysis.ledger());
  }

  // The share of what `side` allocates that is allocated at sites which the other run has as well. Every doubling of
  // bytes counts once: neither the largest buffer nor the number of scalars decides.
  static double Shared(const Side& side, const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*mine,
                       std::vector<size_t> SiteMatch::*other) {
    double shared = 0, all = 0;
    for (const SiteMatch& match : matches) {
      for (const size_t i : match.*mine) {
        double bytes = 1;
        for (const uint32_t site : side.sites[i].sites) {
          bytes += static_cast<double>(side.analysis.ledger().sites()[site].bytes_allocated);
        }
        const double weight = 1 + std::log2(bytes);
        all += weight;
        if (!(match.*other).empty()) shared += weight;
      }
    }
    return all == 0 ? 0 : shared / all;
  }

  bool CheckComparable() {
    const bool base_empty = base_.sites.empty(), next_empty = next_.sites.empty();
    if (base_empty || next_empty) {
      report_.comparable = false;
      report_.reason = absl::StrCat(base_empty && next_empty ? "neither run"
                                    : base_empty             ? "the base"
                                                             : "the new run",
                                    " allocated", base_empty && next_empty ? " anything" : " nothing");
      return false;
    }
    const double shared = std::max(Shared(base_, matching_.matches, &SiteMatch::base, &SiteMatch::next),
                                   Shared(next_, matching_.matches, &SiteMatch::next, &SiteMatch::base));
    if (shared >= kLeastShared) return true;
    report_.comparable = false;
    report_.reason = absl::StrCat("these are not two runs of one program: only ", std::lround(100 * shared),
                                  " % of what they allocate is allocated at places that both have");
    return false;
  }

  void Replay(const StepWindow& window, std::vector<size_t> SiteMatch::*which, Side* side) {
    const auto rest = static_cast<uint32_t>(matching_.matches.size());  // sites that were too many
    side->match_of_site.assign(side->analysis.ledger().sites().size(), rest);
    for (uint32_t m = 0; m < rest; ++m) {
      for (const size_t i : matching_.matches[m].*which) {
        for (const uint32_t site : side->sites[i].sites) side->match_of_site[site] = m;
      }
    }
    side->profile = std::make_unique<RunProfile>(side->match_of_site, size_t{rest} + 1, window,
                                                 side->trace.framework_devices() != 0);
    side->order = std::make_unique<LeakOrder>(LeakingSites(side->analysis), side->analysis.run().steps);
    const std::unique_ptr<Ledger> ledger = ReplayWith({side->profile.get(), side->order.get()}, *side);
    side->profile->Finish();
    side->leaks = LeakGrouping(&side->analysis).Finish(*side->order);
    for (size_t i = 0; i < side->leaks.size(); ++i) {
      side->leak_of_group[side->leaks[i].leader] = i;
      for (const size_t part : side->leaks[i].parts) side->leak_of_group[part] = i;
    }
  }

  // The ledger that `observers` have followed.
  static std::unique_ptr<Ledger> ReplayWith(std::vector<ReplayObserver*> observers, const Side& side) {
    LedgerOptions options = ReplayOptions(side.analysis.options());
    options.histories = options.timeline = false;
    options.observers = std::move(observers);
    auto ledger = std::make_unique<Ledger>(side.trace, side.analysis.plan(), options);
    ledger->Replay();
    return ledger;
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
    AtOnce([&] { ReplayWith({&of_base}, base_); }, [&] { ReplayWith({&of_next}, next_); });
    size_t same = 0;
    const std::vector<SequenceEvent>&old = of_base.events(), &now = of_next.events();
    while (same < old.size() && same < now.size() && old[same].word == now[same].word) ++same;
    DiffDivergence divergence;
    divergence.event = begin + same;
    divergence.rank = next_.trace.definitions().process.rank;
    if (same < old.size()) divergence.base_frames = FramesOf(&base_, old[same].site);
    if (same < now.size()) divergence.new_frames = FramesOf(&next_, now[same].site);
    report_.first_divergence = std::move(divergence);
  }

  static std::vector<ReportFrame> FramesOf(Side* side, uint32_t site) {
    return side->analysis.symbolizer().Frames(side->analysis.ledger().sites()[site].key.stack);
  }

  SiteEvidence EvidenceOf(const Side& side, size_t match, const std::vector<size_t>& members) const {
    SiteEvidence evidence;
    evidence.present = !members.empty();
    evidence.series = side.profile->Series(match);
    evidence.totals = side.profile->Totals(match);
    evidence.sizes = &side.profile->Sizes(match);
    const double per_unit = side.profile->window().per_unit;
    for (const size_t i : members) {
      for (const uint32_t site : side.sites[i].sites) {
        const LeakVerdict& verdict = side.analysis.verdicts()[site];
        evidence.judged &= verdict.verdict != Verdict::kInsufficientEvidence;
        if (!IsLeak(verdict.verdict)) continue;
        evidence.leak = true;
        evidence.rate.rate += verdict.rate_bytes_per_step * per_unit;
        evidence.rate.low += verdict.rate_ci_low * per_unit;
        evidence.rate.high += verdict.rate_ci_high * per_unit;
        evidence.objects_per_step += verdict.rate_objects_per_step * per_unit;
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
    const auto of = [](const Side& side, const std::vector<size_t>& members) -> const DeviceSeries* {
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

  // The innermost frame in which the two differ.
  static size_t FirstDifference(const DiffSite& old, const DiffSite& now) {
    for (size_t i = 0; i < std::min(old.frames.size(), now.frames.size()); ++i) {
      if (!SameShownPlace(old.frames[i], now.frames[i])) return i;
    }
    return 0;
  }

  static bool SameShownPlace(const ReportFrame& a, const ReportFrame& b) {
    return a.function == b.function && a.line == b.line &&
           (a.shown_file.empty() ? a.file : a.shown_file) == (b.shown_file.empty() ? b.file : b.shown_file);
  }

  bool Moved(const SiteMatch& match) const {
    const std::vector<ReportFrame>&old = base_.sites[match.base[0]].frames, &now = next_.sites[match.next[0]].frames;
    if (old.size() != now.size() || match.base.size() != match.next.size()) return true;
    for (size_t i = 0; i < old.size(); ++i) {
      if (!SameShownPlace(old[i], now[i])) return true;
    }
    return false;
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

  static void AddReported(const Side& side, SiteIds* ids) {
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
    const Side& side = more ? next_ : base_;
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
    const Side& side = leak.of_next ? next_ : base_;
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
    const size_t first = FirstDifference(old, now);
    finding.naming_frame = NamingFrame(finding.frames, first);
    finding.explanation =
        absl::StrCat("allocates as before; was at ", Place(old, first), ", is at ", Place(now, first));
    if (match.next.size() > 1) {
      absl::StrAppend(&finding.explanation, " and at ", Place(next_.sites[match.next[1]], 0), ": it was split");
    } else if (match.base.size() > 1) {
      absl::StrAppend(&finding.explanation, ", where ", Place(base_.sites[match.base[1]], 0), " was merged into it");
    }
    report_.moved.push_back(std::move(finding));
  }

  static std::string Place(const DiffSite& site, size_t from) {
    if (site.frames.empty()) return "an unknown place";
    const ReportFrame& frame = site.frames[NamingFrame(site.frames, std::min(from, site.frames.size() - 1))];
    const std::string& file = frame.shown_file.empty() ? frame.file : frame.shown_file;
    if (file.empty()) return frame.function;
    return frame.line == 0 ? file : absl::StrCat(file, ":", frame.line);
  }

  std::string Explain(const SitePair& pair, const SiteChange& change) const {
    const std::string old = FormatBytes(change.base), now = FormatBytes(change.next);
    std::string text;
    if (change.unit == "bytes_live_per_step") {
      text = pair.base.leak && pair.next.leak ? absl::StrCat("leaks ", now, " per step, where it leaked ", old)
             : pair.next.leak                 ? absl::StrCat("leaks ", now, " per step, which the base does not")
                                              : absl::StrCat("no longer leaks ", old, " per step");
    } else if (change.unit == "objects_per_step") {
      text = absl::StrCat("leaves ", change.next, " objects behind in a step, where it left ", change.base);
    } else if (change.unit == "bytes_at_peak") {
      text = !pair.base.present   ? absl::StrCat("holds ", now, " at the peak, and was not there before")
             : !pair.next.present ? absl::StrCat("held ", old, " at the peak, and is not there any more")
                                  : absl::StrCat("holds ", now, " at the peak, where it held ", old);
    } else {
      text = !pair.base.present   ? absl::StrCat("allocates ", now, " in a step, and was not there before")
             : !pair.next.present ? absl::StrCat("allocated ", old, " in a step, and is not there any more")
                                  : absl::StrCat("allocates ", now, " in a step, where it allocated ", old);
    }
    if (!report_.tested && !change.p_value) absl::StrAppend(&text, "; there are too few steps to tell it from chance");
    return text;
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
    const auto devices = [](const Side& side) {
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
    }
  }

  const std::array<std::unique_ptr<Side>, 2> sides_;
  Side &base_, &next_;
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
