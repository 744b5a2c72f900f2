// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/run_profile.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace vramtrack {
namespace {

uint64_t WordOf(uint32_t match, uint64_t bytes, bool born) {
  return (uint64_t{match} << 1 | born) * 0xff51afd7ed558ccd ^ bytes * 0xc4ceb9fe1a85ec53;
}

constexpr double kMostSteps = 0.9;

}  // namespace

uint64_t RunProfile::State::largest() const {
  uint64_t most = 0;
  for (const Holder& holder : holders) most = std::max(most, holder.live);
  return most;
}

RunProfile::RunProfile(std::vector<uint32_t> match_of_site, size_t matches, const StepWindow& window, bool framework)
    : match_of_site_(std::move(match_of_site)),
      window_(window),
      framework_(framework),
      states_(matches),
      totals_(matches),
      sizes_(matches),
      blocks_(matches * window.blocks),
      steps_in_block_(window.blocks),
      block_(window.BlockOf(0)) {
  for (uint32_t step = window_.begin; step < window_.end; ++step) {
    if (const uint32_t block = window_.BlockOf(step); block < window_.blocks) ++steps_in_block_[block];
  }
}

void RunProfile::OnBegin(const Ledger& ledger) { ledger_ = &ledger; }

RunProfile::Peak& RunProfile::PeakOf(uint32_t scope) {
  while (peaks_.size() <= scope) {
    Peak peak;
    peak.device = ledger_->scopes()[peaks_.size()].device;
    // Nothing was there in the steps before.
    peak.last_epochs.assign(step_, 0);
    peak.step_peaks.assign(step_, 0);
    peak.step_fragmentations.assign(step_, 0);
    peak.makers.assign(step_, DeviceSeries::kNoMaker);
    peaks_.push_back(std::move(peak));
  }
  return peaks_[scope];
}

void RunProfile::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  sequence_.Add(WordOf(match_of_site_[allocation.site], allocation.bytes, true));
  if (framework_ && !over_) {
    const std::optional<bool> exact = neighbours_.Allocate(allocation, ledger_->sites()[allocation.site].key.kind);
    if (exact) sizes_[match_of_site_[allocation.site]].Add(allocation.bytes, *exact);
  }
  Change(allocation.site, allocated.slot, allocation.bytes, 1, true);
}

void RunProfile::OnFree(const ReplayAllocation& freed) {
  const LiveAllocation& allocation = freed.allocation;
  sequence_.Add(WordOf(match_of_site_[allocation.site], allocation.bytes, false));
  if (framework_ && !over_) neighbours_.Free(allocation, ledger_->sites()[allocation.site].key.kind);
  Change(allocation.site, freed.slot, allocation.bytes, 1, false);
}

void RunProfile::OnFold(uint32_t site, uint64_t objects, uint64_t bytes, bool born) {
  Change(site, 0, bytes, objects, born);
}

void RunProfile::ChangeHolder(uint32_t slot, uint64_t bytes, bool born, State* state) {
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

void RunProfile::Change(uint32_t site, uint32_t slot, uint64_t bytes, uint64_t objects, bool born) {
  if (over_) return;
  const uint32_t match = match_of_site_[site], peak_scope = ledger_->sites()[site].peak_scope;
  State& state = states_[match];
  if (state.step != step_) Settle(match);
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
  if (!born) return;
  SiteTotals& totals = totals_[match];
  totals.own_peak = std::max(totals.own_peak, state.own_peak);
  totals.several_threads |= state.holders.size() > 1;
  totals.allocations += objects;
  totals.bytes_allocated += bytes;
  if (block_ < window_.blocks) {
    Block& in = blocks_[size_t{match} * window_.blocks + block_];
    in.bytes += static_cast<double>(bytes);
    in.births += static_cast<double>(objects);
  }
  if (peak == nullptr) return;
  if (state.holders.size() > 1 && peak->concurrent_in != step_) {
    peak->concurrent_in = step_;
    peak->concurrent_steps += step_ >= window_.begin;
  }
  const Scope& scope = ledger_->scopes()[peak_scope];
  if (scope.live <= peak->step_peak) return;
  const uint64_t reserved = scope.segments != nullptr ? std::max(scope.segments->counted(), scope.live)
                            : scope.is_device()       ? scope.pages.reserved()
                                                      : scope.live;
  peak->step_peak = scope.live;
  peak->step_fragmentation = reserved - scope.live;
  peak->step_maker = match;
  ++peak->step_epoch;
  if (scope.live <= peak->run_peak) return;
  peak->run_peak = scope.live;
  peak->run_reserved = std::max(peak->run_reserved, reserved);
  peak->run_fragmentation = reserved - scope.live;
  peak->run_step = step_;
  ++peak->run_epoch;
}

// Fills the blocks of the steps since the match last changed.
void RunProfile::Settle(uint32_t match) {
  State& state = states_[match];
  if (state.scope != Site::kNoScope && state.step < step_ && window_.blocks > 0) {
    const Peak& peak = peaks_[state.scope];
    const bool after_peak = state.step < peak.last_epochs.size() && state.step_epoch == peak.last_epochs[state.step];
    AddToBlock(match, state.step, state.live, after_peak ? state.noted_at_step_peak : state.live, state.own_peak);
    const uint64_t largest = state.largest();
    for (uint32_t step = std::max(state.step + 1, window_.begin); step < std::min(step_, window_.end); ++step) {
      AddToBlock(match, step, state.live, state.live, largest);
    }
  }
  state.own_peak = state.largest();
  state.step = step_;
}

void RunProfile::AddToBlock(uint32_t match, uint32_t step, uint64_t live, uint64_t at_peak, uint64_t own) {
  const uint32_t block = window_.BlockOf(step);
  if (block == window_.blocks) return;
  Block& in = blocks_[size_t{match} * window_.blocks + block];
  in.live += static_cast<double>(live);
  in.at_peak += static_cast<double>(at_peak);
  in.own += static_cast<double>(own);
}

void RunProfile::OnOtherEvent(const StreamEvent& event) {
  // The mark of a step comes when the step has ended.
  if (event.operation != schema::STEP || event.slot != ledger_->steps().plan().mark_slot) return;
  if (step_ <= window_.begin || step_ > window_.end) return;
  double size;
  std::memcpy(&size, &event.value[1], sizeof size);
  if (!std::isfinite(size) || size <= 0) return;
  mark_sum_ += size;
  ++marks_;
}

void RunProfile::OnStepEnd(uint32_t step) {
  if (over_) return;
  for (size_t i = 0; i < ledger_->scopes().size(); ++i) PeakOf(static_cast<uint32_t>(i));
  for (size_t i = 0; i < peaks_.size(); ++i) {
    Peak& peak = peaks_[i];
    const Scope& scope = ledger_->scopes()[i];
    peak.last_epochs.push_back(peak.step_epoch);
    peak.step_peaks.push_back(peak.step_peak);
    peak.step_fragmentations.push_back(peak.step_fragmentation);
    peak.makers.push_back(peak.step_maker);
    peak.step_maker = DeviceSeries::kNoMaker;
    // What there is now is the least that the next step will have had at its peak.
    const uint64_t reserved = scope.segments != nullptr ? std::max(scope.segments->counted(), scope.live)
                              : scope.is_device()       ? scope.pages.reserved()
                                                        : scope.live;
    peak.step_peak = scope.live;
    peak.step_fragmentation = reserved - scope.live;
    peak.run_reserved = std::max(peak.run_reserved, reserved);
    ++peak.step_epoch;
  }
  step_ = step + 1;
  block_ = window_.BlockOf(step_);
  if (!Counts(step_)) Finish();
}

void RunProfile::Finish() {
  if (over_) return;
  for (uint32_t match = 0; match < states_.size(); ++match) {
    Settle(match);
    const State& state = states_[match];
    totals_[match].live_bytes = state.live;
    if (state.scope == Site::kNoScope) continue;
    const bool changed_since = state.run_epoch == peaks_[state.scope].run_epoch;
    totals_[match].bytes_at_peak = changed_since ? state.noted_at_run_peak : state.live;
  }
  for (size_t i = 0; i < peaks_.size(); ++i) {
    const Peak& peak = peaks_[i];
    const Scope& scope = ledger_->scopes()[i];
    if (!scope.is_leading() && peak.device != SiteKey::kHost) continue;
    DeviceSeries series;
    series.run_peak = peak.run_peak;
    series.run_reserved_peak = peak.run_reserved;
    series.run_fragmentation = peak.run_fragmentation;
    series.peak_step = peak.run_step;
    series.maker = UsualMaker(peak);
    series.concurrent = 2 * peak.concurrent_steps > window_.end - window_.begin;
    series.peak.assign(window_.blocks, 0);
    series.fragmentation.assign(window_.blocks, 0);
    const size_t steps = std::min<size_t>(peak.step_peaks.size(), window_.end);
    for (size_t step = 0; step < steps; ++step) {
      const uint32_t block = window_.BlockOf(static_cast<uint32_t>(step));
      if (block == window_.blocks) continue;
      series.peak[block] += static_cast<double>(peak.step_peaks[step]) / steps_in_block_[block];
      series.fragmentation[block] += static_cast<double>(peak.step_fragmentations[step]) / steps_in_block_[block];
    }
    series.step_peaks.assign(peak.step_peaks.begin(), peak.step_peaks.begin() + static_cast<std::ptrdiff_t>(steps));
    const size_t floors = std::min<size_t>(scope.floors.size(), window_.end);
    series.floors.assign(scope.floors.begin(), scope.floors.begin() + static_cast<std::ptrdiff_t>(floors));
    devices_[peak.device] = std::move(series);
  }
  over_ = true;
}

uint32_t RunProfile::UsualMaker(const Peak& peak) const {
  std::map<uint32_t, size_t> steps_of;
  const size_t end = std::min<size_t>(peak.makers.size(), window_.end);
  for (size_t step = window_.begin; step < end; ++step) ++steps_of[peak.makers[step]];
  for (const auto& [maker, steps] : steps_of) {
    if (static_cast<double>(steps) >= kMostSteps * (window_.end - window_.begin)) return maker;
  }
  return DeviceSeries::kNoMaker;
}

SiteSeries RunProfile::Series(size_t match) const {
  SiteSeries series;
  for (uint32_t i = 0; i < window_.blocks; ++i) {
    const Block& block = blocks_[match * window_.blocks + i];
    const double steps = steps_in_block_[i], units = steps / window_.per_unit;
    series.live.push_back(block.live / steps);
    series.at_peak.push_back(block.at_peak / steps);
    series.own.push_back(block.own / steps);
    series.bytes.push_back(block.bytes / units);
    series.births.push_back(block.births / units);
  }
  return series;
}

void SequencePart::Add(const ReplayAllocation& event, bool born) {
  const LiveAllocation& allocation = event.allocation;
  if (at_ >= begin_ && at_ < end_) {
    events_.push_back({WordOf(match_of_site_[allocation.site], allocation.bytes, born), allocation.site});
  }
  ++at_;
}

}  // namespace vramtrack
