// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/step_meter.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace vramtrack {
namespace {

// Bytes that a device has reserved for what is live, or what is live where that is not known.
uint64_t ReservedOf(const Scope& scope) {
  if (scope.segments != nullptr) return std::max(scope.segments->counted(), scope.live);
  return scope.is_device() ? scope.pages.reserved() : scope.live;
}

}  // namespace

uint64_t StepMeter::State::largest() const {
  uint64_t most = 0;
  for (const Holder& holder : holders) most = std::max(most, holder.live);
  return most;
}

StepMeter::StepMeter(SiteRows rows, const StepWindow& window, bool framework)
    : rows_(std::move(rows)),
      window_(window),
      framework_(framework),
      states_(size_t{rows_.count} + 1),
      totals_(states_.size()),
      sizes_(states_.size()),
      sums_(states_.size() * window.blocks),
      marks_(window.blocks),
      block_(window.BlockOf(0)) {}

void StepMeter::OnBegin(const Ledger& ledger) { ledger_ = &ledger; }

StepMeter::Peak& StepMeter::PeakOf(uint32_t scope) {
  while (peaks_.size() <= scope) {
    Peak peak;
    peak.device = ledger_->scopes()[peaks_.size()].device;
    peak.steps.resize(step_);  // nothing was there
    peaks_.push_back(std::move(peak));
  }
  return peaks_[scope];
}

void StepMeter::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  if (framework_ && !over_ && !allocated.is_sum) {
    const std::optional<bool> exact = neighbours_.Allocate(allocation, ledger_->sites()[allocation.site].key.kind);
    if (exact) sizes_[rows_.of_site[allocation.site]].Add(allocation.bytes, *exact);
  }
  Change(allocation.site, allocated.slot, allocated.objects, allocation.bytes, true);
}

void StepMeter::OnFree(const ReplayAllocation& freed) {
  const LiveAllocation& allocation = freed.allocation;
  if (framework_ && !over_ && !freed.is_sum) neighbours_.Free(allocation, ledger_->sites()[allocation.site].key.kind);
  Change(allocation.site, freed.slot, freed.objects, allocation.bytes, false);
}

void StepMeter::ChangeHolder(ThreadSlot slot, uint64_t bytes, bool born, State* state) {
  std::vector<Holder>& holders = state->holders;
  auto holder = std::find_if(holders.rbegin(), holders.rend(), [slot](const Holder& one) { return one.slot == slot; });
  if (born) {
    if (holder == holders.rend()) {
      holders.push_back({slot, 0});
      holder = holders.rbegin();
    }
    holder->live += bytes;
    state->own_peak = std::max(state->own_peak, holder->live);
    return;
  }
  if (holder == holders.rend()) return;
  holder->live -= std::min(bytes, holder->live);
  if (holder->live > 0) return;
  *holder = holders.back();
  holders.pop_back();
}

void StepMeter::Change(SiteIndex site, ThreadSlot slot, uint64_t objects, uint64_t bytes, bool born) {
  if (over_) return;
  const uint32_t row = rows_.of_site[site], peak_scope = ledger_->sites()[site].peak_scope;
  State& state = states_[row];
  if (state.step != step_) Settle(row);
  Peak* peak = nullptr;
  if (peak_scope != Site::kNoScope) {
    peak = &PeakOf(peak_scope);
    state.scope = peak_scope;
    if (state.step_epoch != peak->step_epoch) {
      state.step_epoch = peak->step_epoch;
      state.noted_at_step_peak = state.live;
    }
    if (state.run_epoch != peak->run_epoch) {
      state.run_epoch = peak->run_epoch;
      state.noted_at_run_peak = state.live;
    }
  }
  state.live += born ? bytes : -bytes;
  ChangeHolder(slot, bytes, born, &state);
  Sums* in = SumsOf(row, block_);
  if (!born) {
    if (in == nullptr) return;
    in->site.deaths += objects;
    in->site.died_bytes += bytes;
    return;
  }
  Totals& totals = totals_[row];
  totals.own_peak = std::max(totals.own_peak, state.own_peak);
  totals.several_threads |= state.holders.size() > 1;
  totals.allocations += objects;
  if (in != nullptr) {
    in->site.births += objects;
    in->site.born_bytes += bytes;
  }
  if (peak == nullptr) return;
  if (state.holders.size() > 1) peak->concurrent_in = step_;
  const Scope& scope = ledger_->scopes()[peak_scope];
  if (scope.live <= peak->step_peak) return;
  const uint64_t reserved = ReservedOf(scope);
  peak->step_peak = scope.live;
  peak->step_fragmentation = reserved - scope.live;
  peak->step_maker = row;
  ++peak->step_epoch;
  if (scope.live <= peak->run_peak) return;
  peak->run_peak = scope.live;
  NoteReserved(reserved, peak);
  peak->run_fragmentation = reserved - scope.live;
  peak->run_step = step_;
  ++peak->run_epoch;
}

void StepMeter::NoteReserved(uint64_t reserved, Peak* peak) {
  peak->run_reserved = std::max(peak->run_reserved, reserved);
  peak->step_reserved = std::max(peak->step_reserved, reserved);
}

// Fills the windows of the steps since the row last changed.
void StepMeter::Settle(uint32_t row) {
  State& state = states_[row];
  if (state.scope != Site::kNoScope && state.step < step_ && window_.blocks > 0) {
    const Peak& peak = peaks_[state.scope];
    const bool after_peak = state.step < peak.steps.size() && state.step_epoch == peak.steps[state.step].last_epoch;
    AddToWindow(row, state.step, state.live, after_peak ? state.noted_at_step_peak : state.live, state.own_peak);
    const uint64_t largest = state.largest();
    for (uint32_t step = std::max(state.step + 1, window_.begin); step < std::min(step_, window_.end); ++step) {
      AddToWindow(row, step, state.live, state.live, largest);
    }
  }
  state.own_peak = state.largest();
  state.step = step_;
}

void StepMeter::AddToWindow(uint32_t row, uint32_t step, uint64_t live, uint64_t at_peak, uint64_t own) {
  Sums* in = SumsOf(row, window_.BlockOf(step));
  if (in == nullptr) return;
  in->site.live += live;
  in->site.at_peak += at_peak;
  in->site.own += own;
  in->site.own_most = std::max(in->site.own_most, own);
  const uint64_t step_peak = peaks_[states_[row].scope].steps[step].peak;
  if (step_peak <= in->high) return;
  in->high = step_peak;
  in->site.at_high = at_peak;
}

void StepMeter::OnOtherEvent(const StreamEvent& event) {
  // The mark of a step comes when the step has ended.
  if (event.operation != schema::STEP || event.slot != ledger_->steps().plan().mark_slot) return;
  if (step_ <= window_.begin || step_ > window_.end) return;
  double size;
  std::memcpy(&size, &event.value[1], sizeof size);
  if (!std::isfinite(size) || size <= 0) return;
  const uint32_t block = window_.BlockOf(step_ - 1);
  if (block >= window_.blocks) return;
  marks_[block].mark_sum += size;
  ++marks_[block].marks;
}

void StepMeter::OnStepEnd(uint32_t step) {
  if (over_) return;
  for (size_t i = 0; i < ledger_->scopes().size(); ++i) PeakOf(static_cast<uint32_t>(i));
  for (size_t i = 0; i < peaks_.size(); ++i) {
    Peak& peak = peaks_[i];
    const Scope& scope = ledger_->scopes()[i];
    peak.steps.push_back(
        {peak.step_peak, peak.step_fragmentation, peak.step_epoch, 0, peak.step_maker, peak.concurrent_in == step});
    peak.step_maker = kNoRow;
    // What there is now is the least that the next step will have had at its peak.
    const uint64_t reserved = ReservedOf(scope);
    peak.step_peak = scope.live;
    peak.step_fragmentation = reserved - scope.live;
    NoteReserved(reserved, &peak);
    peak.steps.back().reserved = peak.step_reserved;
    peak.step_reserved = 0;
    ++peak.step_epoch;
  }
  step_ = step + 1;
  block_ = window_.BlockOf(step_);
  if (!Counts(step_)) Finish();
}

void StepMeter::Finish() {
  if (over_) return;
  for (uint32_t row = 0; row < states_.size(); ++row) {
    Settle(row);
    const State& state = states_[row];
    totals_[row].live_bytes = state.live;
    if (state.scope == Site::kNoScope) continue;
    const bool changed_since = state.run_epoch == peaks_[state.scope].run_epoch;
    totals_[row].bytes_at_peak = changed_since ? state.noted_at_run_peak : state.live;
  }
  for (size_t i = 0; i < peaks_.size(); ++i) {
    peaks_[i].shown = ledger_->scopes()[i].is_leading() || peaks_[i].device == kHost;
  }
  over_ = true;
}

namespace {

// A few bits are enough: of ten steps nine must have the same peak.
uint64_t MixOf(uint64_t peak) { return (peak * 0x9e3779b97f4a7c15) >> 48; }

}  // namespace

void StepMeter::TakeRow(uint32_t row, ProfileSite* site) {
  const auto begin = sums_.begin() + static_cast<std::ptrdiff_t>(size_t{row} * window_.blocks);
  const auto end = begin + window_.blocks;
  const bool active = std::any_of(begin, end, [](const Sums& in) {
    return in.site.births > 0 || in.site.deaths > 0 || in.site.live > 0 || in.site.at_peak > 0 || in.site.own > 0;
  });
  if (active)
    std::transform(begin, end, std::back_inserter(site->windows.sums), [](const Sums& in) { return in.site; });
  const Totals& of_run = totals_[row];
  site->allocations = of_run.allocations;
  site->bytes_at_peak = of_run.bytes_at_peak;
  site->own_peak = of_run.own_peak;
  site->live_bytes = of_run.live_bytes;
  site->several_threads = of_run.several_threads;
  site->sizes = std::move(sizes_[row]);
}

void StepMeter::AddMakers(const Peak& peak, StepProfile* profile) const {
  for (size_t step = 0; step < std::min<size_t>(peak.steps.size(), window_.end); ++step) {
    const uint32_t maker = peak.steps[step].maker, block = window_.BlockOf(static_cast<uint32_t>(step));
    if (maker >= rows_.count || block >= window_.blocks) continue;
    std::vector<SiteWindow>& sums = profile->sites[maker].windows.sums;
    sums.resize(window_.blocks);
    ++sums[block].made;
  }
}

ProfileDevice StepMeter::DeviceOf(uint64_t steps_in_bin, const Scope& scope, const Peak& peak) const {
  ProfileDevice to;
  to.index = NumberOf(peak.device);
  to.run_peak = peak.run_peak;
  to.run_reserved_peak = peak.run_reserved;
  to.run_fragmentation = peak.run_fragmentation;
  to.peak_step = peak.run_step;
  to.steps_in_bin = steps_in_bin;
  const size_t count = std::min<size_t>(peak.steps.size(), window_.end);
  to.bins.resize((count + steps_in_bin - 1) / steps_in_bin);
  for (DeviceBin& bin : to.bins) bin.floor = UINT64_MAX;
  for (size_t i = 0; i < count; ++i) {
    const PeakStep& step = peak.steps[i];
    DeviceBin& bin = to.bins[i / steps_in_bin];
    bin.peak += step.peak;
    bin.fragmentation += step.fragmentation;
    if (i < scope.floors.size()) bin.floor = std::min<uint64_t>(bin.floor, scope.floors[i]);
    bin.peak_sum += MixOf(step.peak);
    bin.concurrent += step.concurrent;
    bin.reserved_highest = std::max(bin.reserved_highest, step.reserved);
    if (i % steps_in_bin != 0 && step.peak <= bin.highest) continue;
    bin.highest = step.peak;
    bin.at_highest = step.fragmentation;
  }
  return to;
}

void StepMeter::Take(uint64_t steps_in_bin, StepProfile* profile) {
  Finish();
  profile->window_steps.resize(window_.blocks);
  for (size_t i = 0; i < marks_.size(); ++i) {
    profile->window_steps[i].mark_sum = marks_[i].mark_sum;
    profile->window_steps[i].marks = marks_[i].marks;
  }
  for (uint32_t row = 0; row < rows_.count; ++row) TakeRow(row, &profile->sites[row]);
  sums_ = {};
  std::map<DeviceIndex, size_t> scope_of;  // the host last
  for (size_t i = 0; i < peaks_.size(); ++i) {
    if (peaks_[i].shown) scope_of[peaks_[i].device] = i;
  }
  for (const auto& [device, scope] : scope_of) {
    AddMakers(peaks_[scope], profile);
    profile->devices.push_back(DeviceOf(steps_in_bin, ledger_->scopes()[scope], peaks_[scope]));
    peaks_[scope] = Peak();
  }
}

}  // namespace vramtrack
