// SPDX-License-Identifier: Apache-2.0
#include "analyzer/profile/step_meter.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
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

StepMeter::StepMeter(SiteRows rows, const StepWindow& window, uint64_t steps_in_bin, bool framework,
                     StepProfile* profile)
    : rows_(std::move(rows)),
      window_(window),
      steps_in_bin_(steps_in_bin),
      framework_(framework),
      profile_(*profile),
      states_(size_t{rows_.count} + 1),
      highs_(states_.size() * window.blocks),
      block_(window.BlockOf(0)) {
  profile_.window_steps.resize(window.blocks);
}

StepMeter::Peak& StepMeter::PeakOf(uint32_t scope) {
  while (peaks_.size() <= scope) {
    // Until now there was nothing.
    peaks_.emplace_back();
    peaks_.back().steps.resize(step_);
    peaks_.back().device.bins.resize((std::min(step_, window_.end) + steps_in_bin_ - 1) / steps_in_bin_);
  }
  return peaks_[scope];
}

SiteWindow& StepMeter::SumsOf(uint32_t row, uint32_t block) {
  std::vector<SiteWindow>& sums = SiteOf(row).windows.sums;
  if (sums.empty()) sums.resize(window_.blocks);
  return sums[block];
}

void StepMeter::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  if (framework_ && !over_ && !allocated.is_sum) {
    const std::optional<bool> exact = neighbours_.Allocate(allocation, ledger_->sites()[allocation.site].key.kind);
    if (exact) SiteOf(rows_.of_site[allocation.site]).sizes.Add(allocation.bytes, *exact);
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
  }
  state.live += born ? bytes : -bytes;
  ChangeHolder(slot, bytes, born, &state);
  SiteWindow* in = block_ < window_.blocks ? &SumsOf(row, block_) : nullptr;
  if (!born) {
    if (in == nullptr) return;
    in->deaths += objects;
    in->died_bytes += bytes;
    return;
  }
  if (in != nullptr) {
    in->births += objects;
    in->born_bytes += bytes;
  }
  ProfileSite& of_run = SiteOf(row);
  of_run.own_peak = std::max(of_run.own_peak, state.own_peak);
  of_run.several_threads |= state.holders.size() > 1;
  if (peak == nullptr) return;
  if (state.holders.size() > 1) peak->concurrent_in = step_;
  const Scope& scope = ledger_->scopes()[peak_scope];
  if (scope.live <= peak->step_peak) return;
  const uint64_t reserved = ReservedOf(scope);
  peak->step_peak = scope.live;
  peak->step_fragmentation = reserved - scope.live;
  peak->step_maker = row;
  ++peak->step_epoch;
  if (scope.peak_epoch == peak->run_epoch) return;
  peak->run_epoch = scope.peak_epoch;
  NoteReserved(reserved, peak);
  peak->device.run_fragmentation = reserved - scope.live;
}

void StepMeter::NoteReserved(uint64_t reserved, Peak* peak) {
  peak->device.run_reserved_peak = std::max(peak->device.run_reserved_peak, reserved);
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
  const uint32_t block = window_.BlockOf(step);
  if (block >= window_.blocks) return;
  const uint64_t step_peak = peaks_[states_[row].scope].steps[step].peak;
  uint64_t& high = highs_[size_t{row} * window_.blocks + block];
  const bool is_highest = step_peak > high;
  if (is_highest) high = step_peak;
  if ((live | at_peak | own) == 0 && SiteOf(row).windows.sums.empty()) return;
  SiteWindow& in = SumsOf(row, block);
  in.live += live;
  in.at_peak += at_peak;
  in.own += own;
  in.own_most = std::max(in.own_most, own);
  if (is_highest) in.at_high = at_peak;
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
  profile_.window_steps[block].mark_sum += size;
  ++profile_.window_steps[block].marks;
}

void StepMeter::OnStepEnd(uint32_t step) {
  if (over_) {
    step_ = step + 1;
    return;
  }
  for (const Scope& scope : ledger_->scopes()) EndStep(step, scope, &PeakOf(scope.index));
  step_ = step + 1;
  block_ = window_.BlockOf(step_);
  if (!window_.whole_run && step_ >= window_.end) Finish();
}

namespace {

// A few bits are enough: of ten steps nine must have the same peak.
uint64_t MixOf(uint64_t peak) { return (peak * 0x9e3779b97f4a7c15) >> 48; }

}  // namespace

void StepMeter::AddToBin(uint32_t step, const Scope& scope, Peak* peak) const {
  std::vector<DeviceBin>& bins = peak->device.bins;
  const bool begins = step % steps_in_bin_ == 0;
  if (begins) {
    bins.emplace_back();
    bins.back().floor = UINT64_MAX;
  }
  DeviceBin& bin = bins.back();
  bin.peak += peak->step_peak;
  bin.fragmentation += peak->step_fragmentation;
  bin.floor = std::min(bin.floor, scope.floors[step]);
  bin.peak_sum += MixOf(peak->step_peak);
  bin.concurrent += peak->concurrent_in == step;
  bin.reserved_highest = std::max(bin.reserved_highest, peak->step_reserved);
  if (!begins && peak->step_peak <= bin.highest) return;
  bin.highest = peak->step_peak;
  bin.at_highest = peak->step_fragmentation;
}

void StepMeter::EndStep(uint32_t step, const Scope& scope, Peak* peak) {
  const uint64_t reserved = ReservedOf(scope);
  NoteReserved(reserved, peak);
  peak->steps.push_back({peak->step_peak, peak->step_epoch});
  if (step < window_.end) AddToBin(step, scope, peak);
  const uint32_t maker = std::exchange(peak->step_maker, kNoRow), block = window_.BlockOf(step);
  if (maker < rows_.count && block < window_.blocks) ++SumsOf(maker, block).made;
  // What there is now is the least that the next step will have had at its peak.
  peak->step_peak = scope.live;
  peak->step_fragmentation = reserved - scope.live;
  peak->step_reserved = 0;
  ++peak->step_epoch;
}

void StepMeter::Finish() {
  if (over_) return;
  over_ = true;
  for (uint32_t row = 0; row < states_.size(); ++row) Settle(row);
  for (ProfileSite& site : profile_.sites) {
    for (const SiteIndex index : site.sites) {
      if (ledger_->sites().Has(index)) site.bytes_at_peak += ledger_->BytesAtPeak(ledger_->sites()[index]);
    }
  }
  std::map<DeviceIndex, const Scope*> shown;  // the host last
  for (size_t i = 0; i < peaks_.size(); ++i) {
    const Scope& scope = ledger_->scopes()[i];
    if (scope.is_total()) shown[scope.device] = &scope;
  }
  for (const auto& [number, scope] : shown) {
    ProfileDevice& device = peaks_[scope->index].device;
    device.index = NumberOf(number);
    device.run_peak = scope->peak;
    device.peak_step = scope->peak_moment.step;
    device.steps_in_bin = steps_in_bin_;
    profile_.devices.push_back(std::move(device));
  }
}

}  // namespace vramtrack
