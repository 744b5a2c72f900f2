// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/process_diff.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/diff/change_findings.h"
#include "analyzer/diff/compared_pair.h"
#include "analyzer/diff/device_comparison.h"
#include "analyzer/diff/significance.h"
#include "analyzer/findings/core/framework_findings.h"
#include "analyzer/ledger/site_table.h"

namespace vramtrack {
namespace {

constexpr double kSameSize = 0.02;  // of steps, and of figures in proportion to them

// With less of what both runs allocate at sites that they share, they are not two runs of one program.
constexpr double kLeastShared = 0.2;

// The share of what `run` allocates that is allocated at sites which the other one has as well. Every doubling of bytes
// counts once: neither the largest buffer nor the number of scalars decides.
double Shared(const ComparedProcess& run, const std::vector<SiteMatch>& matches, std::vector<size_t> SiteMatch::*mine,
              std::vector<size_t> SiteMatch::*other) {
  double shared = 0, all = 0;
  for (const SiteMatch& match : matches) {
    for (const size_t i : match.*mine) {
      const double weight = 1 + std::log2(1 + static_cast<double>(run.sites()[i].bytes_allocated));
      all += weight;
      if (!(match.*other).empty()) shared += weight;
    }
  }
  return all == 0 ? 0 : shared / all;
}

// Why these are not two runs of one program, of which nothing else can be said; empty if they are.
std::string WhyNotComparable(const ComparedPair& pair) {
  const ComparedProcess &base = pair.base, &next = pair.next;
  const std::vector<SiteMatch>& matches = pair.matches();
  const bool base_empty = base.sites().empty(), next_empty = next.sites().empty();
  if (base_empty && next_empty) return "neither run allocated anything";
  if (base_empty || next_empty) return absl::StrCat(base_empty ? "the base" : "the new run", " allocated nothing");
  const uint64_t old = base.profile().window_bytes, now = next.profile().window_bytes;
  if (old != 0 && now != 0 && old != now) {
    return "neither has steps, and the summaries' window sizes differ; compare against a trace instead";
  }
  const double shared = std::max(Shared(base, matches, &SiteMatch::base, &SiteMatch::next),
                                 Shared(next, matches, &SiteMatch::next, &SiteMatch::base));
  if (shared >= kLeastShared) return "";
  return absl::StrCat("these are not two runs of one program: only ", std::lround(100 * shared),
                      " % of what they allocate is from sites that both have");
}

class Comparison {
 public:
  Comparison(ComparedProcess* base, ComparedProcess* next, const DiffOptions& options)
      : pair_{*base, *next, options.analyze.threads, MatchSites(base->sites(), next->sites(), options.renames), {}, {},
              {},    {}} {}

  ProcessDiff Run() {
    Compare();
    return {std::move(report_), std::move(base_sites_), std::move(new_sites_)};
  }

 private:
  void Compare() {
    report_.base = pair_.base.facts().side;
    report_.next = pair_.next.facts().side;
    report_.reason = WhyNotComparable(pair_);
    report_.comparable = report_.reason.empty();
    if (!report_.comparable) return;
    if (pair_.base.profile().window_bytes != 0 && pair_.next.profile().window_bytes != 0) {
      report_.rate_unit = RateUnit::kGiB;
    }
    report_.inferred_renames = pair_.matching.inferred;
    MeasureSteps(&pair_);
    report_.normaliser = pair_.windows.normaliser;
    report_.tested = pair_.windows.base.blocks >= kMinSample;
    CompareSequences(pair_, &report_);
    FindChanges();
    CompareAllDevices();
  }

  // Where the steps say that they are of another size, what a site has more or less of in proportion is that size's
  // doing.
  void LeaveOutScaled(std::vector<SiteChange>* changes) {
    const double old = pair_.base_run.step_size, now = pair_.next_run.step_size;
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

  void FindChanges() {
    const std::vector<SiteMatch>& matches = pair_.matches();
    const std::vector<SitePair>& evidence = pair_.evidence;
    std::vector<SiteChange> changes = CompareSites(evidence, report_.tested, pair_.windows.base.whole_run);
    // The framework's blocks in them have sites of their own, and the devices show what the allocator does.
    for (size_t m = 0; m < matches.size(); ++m) {
      if (changes[m].found && pair_.IsSegments(matches[m])) changes[m] = {};
    }
    LeaveOutScaled(&changes);
    for (size_t m = 0; m < matches.size(); ++m) {
      AddToCategories(matches[m], evidence[m]);
      report_.matched_sites += evidence[m].base.present && evidence[m].next.present;
      report_.small_changes += changes[m].small;
    }
    ChangeFindings(pair_, &base_sites_, &new_sites_, &report_).Add(changes);
    SortFindings(&report_);
  }

  void AddToCategories(const SiteMatch& match, const SitePair& evidence) {
    const ProfileSite& site = pair_.SiteOf(match);
    if (pair_.HoldsNoMemory(match) || pair_.IsSegments(match)) return;
    SitesOfDevice& of_device = sites_[site.device_ordinal];
    SitesOfDevice::Category& sum = of_device.categories[site.category];
    const auto add = [](const std::vector<double>& from, std::vector<double>* to) {
      to->resize(from.size());
      for (size_t i = 0; i < from.size(); ++i) (*to)[i] += from[i];
    };
    add(evidence.base.series.at_peak, &sum.base);
    add(evidence.next.series.at_peak, &sum.next);
    add(evidence.base.series.own, &of_device.base_own);
    add(evidence.next.series.own, &of_device.next_own);
    sum.base_at_peak += static_cast<double>(evidence.base.bytes_at_peak);
    sum.next_at_peak += static_cast<double>(evidence.next.bytes_at_peak);
  }

  void CompareAllDevices() {
    const auto devices = [](const MeasuredRun& run) {
      std::vector<std::pair<uint32_t, const DeviceSeries*>> list;
      for (const auto& [device, series] : run.devices) {
        if (device) list.push_back({*device, &series});
      }
      return list;
    };
    const auto base = devices(pair_.base_run), next = devices(pair_.next_run);
    static const DeviceSeries kNone;
    for (size_t i = 0; i < std::max(base.size(), next.size()); ++i) {
      const DeviceSeries& old = i < base.size() ? *base[i].second : kNone;
      const DeviceSeries& now = i < next.size() ? *next[i].second : kNone;
      const uint32_t index = i < next.size() ? next[i].first : base[i].first;
      report_.devices.push_back(
          CompareDevices(index, old, pair_.windows.base, now, pair_.windows.next, sites_[static_cast<uint32_t>(i)]));
      DiffValue& growth = report_.devices.back().growth;
      growth.base *= pair_.base.rate_scale();
      growth.next *= pair_.next.rate_scale();
    }
  }

  ComparedPair pair_;
  std::map<uint32_t, SitesOfDevice> sites_;  // by the device's ordinal
  DiffSiteIds base_sites_{pair_.base.facts().reported}, new_sites_{pair_.next.facts().reported};
  DiffReport report_;
};

}  // namespace

ProcessDiff CompareProcesses(ComparedProcess* base, ComparedProcess* next, const DiffOptions& options) {
  ProcessDiff diff = Comparison(base, next, options).Run();
  base->AddFindings();
  next->AddFindings();
  return diff;
}

ProcessDiff CompareProcesses(const Trace& base, const Trace& next, const DiffOptions& options) {
  AnalyzeOptions analyze = options.analyze;
  const auto sides = OpenBoth(base, next, &analyze);
  return CompareProcesses(sides[0].get(), sides[1].get(), options);
}

DiffReport Named(ProcessDiff diff) {
  NameSites(diff.base_sites, diff.new_sites, &diff.report);
  return std::move(diff.report);
}

namespace {

using FindingList = std::vector<DiffFinding> DiffReport::*;
constexpr FindingList kLists[] = {&DiffReport::added, &DiffReport::gone, &DiffReport::grown, &DiffReport::shrunk,
                                  &DiffReport::moved};

int RankOf(const DiffFinding& finding) {
  constexpr ChangeUnit units[] = {ChangeUnit::kBytesLivePerStep, ChangeUnit::kObjectsPerStep, ChangeUnit::kBytesAtPeak};
  return static_cast<int>(std::find(std::begin(units), std::end(units), finding.unit) - std::begin(units));
}

bool LargerChange(const DiffFinding& a, const DiffFinding& b) {
  const auto key = [](const DiffFinding& finding) {
    return std::make_tuple(RankOf(finding), -std::fabs(finding.delta()),
                           -std::max(finding.base_value, finding.new_value));
  };
  return key(a) < key(b);
}

template <typename T>
void Append(std::vector<T> from, std::vector<T>* to) {
  std::move(from.begin(), from.end(), std::back_inserter(*to));
}

void JoinSide(DiffSide one, DiffSide* job) {
  Append(std::move(one.paths), &job->paths);
  Append(std::move(one.processes), &job->processes);
  if (one.steps.count > job->steps.count) job->steps = one.steps;
  if (job->incomplete.empty()) job->incomplete = std::move(one.incomplete);
}

void JoinFindings(std::vector<DiffFinding> one, std::vector<DiffFinding>* job) {
  using Key = std::tuple<Level, std::string, ChangeUnit, std::string, std::string>;
  const auto key = [](const DiffFinding& finding) {
    return Key(finding.level, finding.kind, finding.unit, finding.base_site.value_or(""),
               finding.new_site.value_or(""));
  };
  std::map<Key, size_t> known;
  for (size_t i = 0; i < job->size(); ++i) known.try_emplace(key((*job)[i]), i);
  for (DiffFinding& finding : one) {
    const auto found = known.find(key(finding));
    if (found == known.end() || (*job)[found->second].device != finding.device) {
      job->push_back(std::move(finding));
      continue;
    }
    DiffFinding& same = (*job)[found->second];
    same.base_value += finding.base_value;
    same.new_value += finding.new_value;
    same.leak |= finding.leak;
    same.base_leak |= finding.base_leak;
    JoinFindings(std::move(finding.parts), &same.parts);
    if (finding.p_value && (!same.p_value || *finding.p_value < *same.p_value)) {
      same.p_value = finding.p_value;
      same.effect_size = finding.effect_size;
    }
  }
}

void JoinDevices(std::vector<DiffDevice> one, std::vector<DiffDevice>* job) {
  for (DiffDevice& device : one) {
    const auto same =
        std::find_if(job->begin(), job->end(), [&](const DiffDevice& other) { return other.index == device.index; });
    if (same == job->end()) {
      job->push_back(std::move(device));
    } else if (std::max(device.peak.base, device.peak.next) > std::max(same->peak.base, same->peak.next)) {
      *same = std::move(device);
    }
  }
  std::sort(job->begin(), job->end(), [](const DiffDevice& a, const DiffDevice& b) { return a.index < b.index; });
}

}  // namespace

void SortFindings(DiffReport* report) {
  for (const FindingList list : kLists) {
    std::stable_sort((report->*list).begin(), (report->*list).end(), LargerChange);
  }
}

void JoinDiffs(DiffReport one, DiffReport* job) {
  JoinSide(std::move(one.base), &job->base);
  JoinSide(std::move(one.next), &job->next);
  // One process that has a counterpart is enough to compare the runs by.
  if (one.comparable != job->comparable) {
    job->warnings.push_back("some processes have nothing in common with their counterparts: they are left out");
    if (!one.comparable) return;
    job->reason.clear();
    job->comparable = true;
    job->identical = false;
  } else {
    job->identical &= one.identical;
  }
  job->reordered &= one.reordered || one.identical;
  if (!job->first_divergence) job->first_divergence = std::move(one.first_divergence);
  job->tested |= one.tested;
  job->events += one.events;
  job->matched_sites += one.matched_sites;
  job->small_changes += one.small_changes;
  for (auto& rename : one.inferred_renames) {
    if (std::find(job->inferred_renames.begin(), job->inferred_renames.end(), rename) == job->inferred_renames.end()) {
      job->inferred_renames.push_back(std::move(rename));
    }
  }
  if (one.rate_unit != DiffReport().rate_unit) job->rate_unit = one.rate_unit;
  if (job->normaliser.empty()) job->normaliser = std::move(one.normaliser);
  JoinDevices(std::move(one.devices), &job->devices);
  for (const FindingList list : kLists) JoinFindings(std::move(one.*list), &(job->*list));
  Append(std::move(one.warnings), &job->warnings);
  SortFindings(job);
}

}  // namespace vramtrack
