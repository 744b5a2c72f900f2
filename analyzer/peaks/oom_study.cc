// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/oom_study.h"

#include <algorithm>
#include <set>

namespace vramtrack {
namespace {

// Points of the good step that are kept; where there are more, every second one goes.
constexpr size_t kMaxSnapshots = 64;
constexpr double kPeakPrecision = 1.01;
// To look at all sites takes a while where there are more than this.
constexpr size_t kManySites = 200000, kMaxSnapshotsOfMany = 4;
constexpr double kPeakPrecisionOfMany = 1.5;
constexpr double kLeastKnown = 0.5;

}  // namespace

OomStudy::OomStudy(const Ledger& first, const std::vector<OutOfMemory>& failures,
                   std::vector<std::vector<SiteIndex>> asking)
    : cases_(failures.size()), findings_(failures.size()) {
  std::set<uint32_t> failing_steps;
  for (const OutOfMemory& failure : failures) failing_steps.insert(failure.step);
  const bool steps = first.steps().plan().has_steps();
  for (size_t i = 0; i < cases_.size(); ++i) {
    Case& study = cases_[i];
    study.failure = &failures[i];
    study.asking = std::move(asking[i]);
    std::sort(study.asking.begin(), study.asking.end());
    for (uint32_t step = study.failure->step; steps && step-- > 0;) {
      if (failing_steps.count(step) != 0) continue;
      study.good_step = step;
      break;
    }
  }
}

void OomStudy::OnBegin(const Ledger& ledger) {
  ledger_ = &ledger;
  BeginStep(0);
}

void OomStudy::BeginStep(uint32_t step) {
  active_ = false;
  for (Case& study : cases_) {
    study.asked = 0;
    if (!study.done && study.good_step && step + kStepsBefore >= *study.good_step && step <= study.failure->step) {
      active_ = true;
    }
  }
}

bool OomStudy::IsOfDevice(const Site& site, DeviceIndex device) const {
  return site.scope != Site::kNoScope && site.key.device == device;
}

OomStudy::Held OomStudy::HeldOn(DeviceIndex device, std::pair<SiteIndex, uint64_t> less) const {
  Held held;
  const Sites& sites = ledger_->sites();
  for (const SiteIndex i : sites.indices()) {
    if (!IsOfDevice(sites[i], device)) continue;
    const uint64_t bytes = sites[i].live_bytes - sites[i].segment_bytes - (less.first == i ? less.second : 0);
    if (bytes > 0) held.emplace_back(i, bytes);
  }
  return held;
}

void OomStudy::Allocated(const LiveAllocation& allocation) {
  const Site& site = ledger_->sites()[allocation.site];
  const uint32_t step = ledger_->steps().step();
  const bool many = ledger_->sites().size() > kManySites;
  for (Case& study : cases_) {
    if (study.done || !study.good_step || !IsOfDevice(site, study.failure->device)) continue;
    if (step + kStepsBefore < *study.good_step || step > study.failure->step) continue;
    // Of steps between the two nothing is said: an allocation failed in them.
    if (step > *study.good_step && step != study.failure->step) continue;
    auto& [objects, bytes] = (step <= *study.good_step ? study.before : study.now)[allocation.site];
    ++objects;
    bytes += allocation.bytes;
    const bool asks = std::binary_search(study.asking.begin(), study.asking.end(), allocation.site);
    if (step == *study.good_step) {
      if (asks && study.asked % study.stride == 0) {
        if (study.snapshots.size() == (many ? kMaxSnapshotsOfMany : kMaxSnapshots)) {
          study.stride *= 2;
          study.snapshots.erase(std::remove_if(study.snapshots.begin(), study.snapshots.end(),
                                               [&](const Snapshot& one) { return one.asked % study.stride != 0; }),
                                study.snapshots.end());
        }
        if (study.asked % study.stride == 0) {
          study.snapshots.push_back({study.asked, HeldOn(study.failure->device, {allocation.site, allocation.bytes})});
        }
      }
      const Scope& scope = ledger_->scopes()[site.scope];
      const double precision = many ? kPeakPrecisionOfMany : kPeakPrecision;
      if (scope.is_leading() && static_cast<double>(scope.live) > precision * static_cast<double>(study.peak)) {
        study.peak = scope.live;
        study.at_peak = HeldOn(study.failure->device);
      }
    }
    study.asked += asks;
  }
}

void OomStudy::Failed(const StreamEvent& event) {
  for (size_t i = 0; i < cases_.size(); ++i) {
    Case& study = cases_[i];
    const OutOfMemory& failure = *study.failure;
    if (study.done || failure.ticks != event.time || failure.requested != event.shape->bytes ||
        failure.device != DeviceIndex(event.shape->device)) {
      continue;
    }
    findings_[i].held = HeldOn(failure.device);
    Compare(study, &findings_[i]);
    Case finished;  // what was kept is needed no more
    finished.failure = study.failure;
    finished.done = true;
    study = std::move(finished);
    return;
  }
}

void OomStudy::Compare(const Case& study, Finding* finding) const {
  if (!study.good_step) return;
  const Held* then = nullptr;
  for (const Snapshot& one : study.snapshots) {
    if (one.asked <= study.asked) then = &one.held;
  }
  finding->same_point = then != nullptr;
  if (then == nullptr && !study.at_peak.empty()) then = &study.at_peak;
  if (then == nullptr) return;
  finding->compared_step = study.good_step;
  auto a = then->begin();
  for (auto b = finding->held.begin(); a != then->end() || b != finding->held.end();) {
    Change change;
    if (b == finding->held.end() || (a != then->end() && a->first < b->first)) {
      change = {a->first, a->second, 0};
      ++a;
    } else if (a == then->end() || b->first < a->first) {
      change = {b->first, 0, b->second};
      ++b;
    } else {
      change = {a->first, a->second, b->second};
      ++a, ++b;
    }
    if (change.then != change.now) finding->changes.push_back(change);
  }
  double known = 0, expected = 0, all = 0;
  for (const auto& [site, sum] : study.now) {
    const auto& [objects, bytes] = sum;
    all += static_cast<double>(bytes);
    const auto before = study.before.find(site);
    if (before == study.before.end() || before->second.first == 0) continue;
    known += static_cast<double>(bytes);
    expected += static_cast<double>(before->second.second) / static_cast<double>(before->second.first) *
                static_cast<double>(objects);
  }
  if (expected > 0 && known >= kLeastKnown * all) finding->size_ratio = known / expected;
}

}  // namespace vramtrack
