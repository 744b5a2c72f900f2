// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/process_diff.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace vramtrack {
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
