// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/ledger.h"

#include <algorithm>
#include <utility>

#include "analyzer/ledger/kind.h"

namespace vramtrack {

Ledger::Ledger(const Trace& trace, StepPlan plan, LedgerOptions options)
    : trace_(trace),
      options_(std::move(options)),
      clock_(std::move(plan)),
      live_(static_cast<uint32_t>(trace.threads().size()) + (options_.unseen != nullptr ? 1 : 0)),
      recent_(kRecentSites) {
  for (ReplayObserver* observer : options_.observers) {
    const unsigned calls = observer->frequent_calls();
    if ((calls & ReplayObserver::kAllocations) != 0) on_allocate_.push_back(observer);
    if ((calls & ReplayObserver::kFrees) != 0) on_free_.push_back(observer);
    if ((calls & ReplayObserver::kSums) != 0) on_sum_.push_back(observer);
  }
  if (trace.past() != nullptr) unknown_frees_ = trace.past()->unknown_frees;
  if (options_.unseen != nullptr && !options_.unseen->changes.empty()) {
    unseen_ticks_ = options_.unseen->changes.front().ticks;
  }
  AddFrameworkLevels();
}

Ledger::~Ledger() = default;

void Ledger::Replay() {
  if (stream_ == nullptr) {
    for (ReplayObserver* observer : options_.observers) observer->OnBegin(*this);
    stream_ = std::make_unique<EventStream>(trace_);
  }
  for (;;) {
    const std::vector<StreamEvent>& events = stream_->Read();
    if (events.empty()) break;
    for (const StreamEvent& event : events) {
      if (__builtin_expect(event.time >= unseen_ticks_, 0)) ApplyUnseen(event.time);
      present_event_ = &event;
      Apply(event);
      present_event_ = nullptr;
    }
    if (options_.replayed != nullptr) *options_.replayed += events.size();
  }
  if (unseen_ticks_ != UINT64_MAX) ApplyUnseen(UINT64_MAX);
  unreadable_events_ = stream_->unreadable_events();
  if (!keeps_place_) stream_.reset();
  NoteEnd();
  for (ReplayObserver* observer : options_.observers) observer->OnEnd();
}

bool Ledger::Continue(StepPlan plan) {
  return stream_ != nullptr && undefined_stacks_ == 0 && clock_.Continue(std::move(plan), last_ticks_) &&
         stream_->Continue();
}

void Ledger::Apply(const StreamEvent& event) {
  ++events_;
  // No next cut is the latest of all times, which an event may have as well.
  while (__builtin_expect(event.time >= clock_.next_time(), 0) && clock_.next_time() != UINT64_MAX) {
    MoveClock(clock_.next_time());
    clock_.PassTime();
    EndStep();
  }
  MoveClock(event.time);
  switch (event.operation) {
    case schema::ALLOCATE:
      Allocate(event);
      return;
    case schema::FREE:
      Free(event);
      return;
    case schema::FREE_UNKNOWN:
      // Handles whose making was not seen hold nothing that a level would lack.
      if (LevelOf(event.shape->kind) != Level::kHandle) ++unknown_frees_;
      break;
    case schema::FAIL:
      // A device of which nothing is known but that it refused memory has its figures, too.
      if (IsOutOfMemory(event.shape->kind, event.value[0])) {
        ScopeOf(Level::kDriver, event.device());
      }
      break;
    case schema::STEP:
      if (clock_.OnMark(event.slot, /*is_step=*/true, event.value[0])) EndStep();
      break;
    case schema::MEMORY_INFO:
      NoteDeviceMemory(event);
      break;
    case schema::MARK:
      if (event.shape->kind == schema::MARK_FREE_REFUSED) Refuse(event);
      if (clock_.OnMark(event.slot, /*is_step=*/false, 0)) EndStep();
      break;
    case schema::FOLD_ALLOCATE:
      FoldAllocate(event);
      break;
    case schema::FOLD_FREE:
      FoldFree(event);
      break;
    case schema::DEVICE_RESET:
      for (const NamedAllocation& gone : live_.RemoveDevice(event.device())) Vanish(gone.allocation, gone.name);
      for (const NamedAllocation& gone : mapped_.RemoveDevice(event.device())) Vanish(gone.allocation, gone.name);
      break;
    default:
      break;
  }
  for (ReplayObserver* observer : options_.observers) observer->OnOtherEvent(event);
}

// The free that the mark is about was counted as one of something unknown.
void Ledger::Refuse(const StreamEvent& event) {
  const uint64_t number = event.value[1];
  ++refused_frees_[{trace_.definitions().stacks.Distinct(event.shape->ref), number >> 1}];
  if ((number & 1) != 0 && unknown_frees_ > 0) --unknown_frees_;
}

void Ledger::NoteDeviceMemory(const StreamEvent& event) {
  Scope& scope = scopes_[ScopeOf(Level::kDriver, event.device())];
  const uint64_t free = event.value[0], total = event.value[1];
  scope.total = total;
  const uint64_t used = total > free ? total - free : 0;
  scope.asked_ticks = event.time;
  scope.asked_used = used;
  scope.outside = used > scope.pages.reserved() ? used - scope.pages.reserved() : 0;
}

void Ledger::EndStep() {
  step_ends_.push_back(last_ticks_);
  for (Scope& scope : scopes_) {
    scope.floors.push_back(scope.floor);
    scope.ceilings.push_back(scope.ceiling);
    scope.floor = scope.ceiling = LevelOfScope(scope);
    scope.step_moment = MomentOf(scope);
    scope.step_moment->step = clock_.step() - 1;
    if (scope.segments != nullptr && scope.level == Level::kFramework) {
      scope.reserved_floors.push_back(std::exchange(scope.reserved_floor, scope.segments->counted()));
      scope.live_floors.push_back(std::exchange(scope.live_floor, scope.live));
    }
  }
  for (ReplayObserver* observer : options_.observers) observer->OnStepEnd(clock_.step() - 1);
}

SiteIndex Ledger::SiteOf(const StreamEvent& event) {
  if (__builtin_expect(*event.note != 0, 1)) return SiteIndex(*event.note - 1);
  // Blocks have their own shapes, the same over and over.
  const uint32_t kind = event.shape->kind & 0xff;
  const DeviceIndex device = IsHostMemory(kind) ? kHost : event.device();
  const uint64_t key = uint64_t{event.shape->ref} << 32 | (device.value() & 0xffff) << 8 | kind;
  // Stacks are numbered in order, so that those of a job with few of them lie together.
  RecentSite& recent = recent_[event.shape->ref % kRecentSites];
  if (recent.key != key) {
    recent = {key, FindSite({kind, device, StackOf(event, kind)})};
  }
  *event.note = recent.site.value() + 1;
  return recent.site;
}

// All growth of PyTorch's pinned-memory pool is one site: the line that asks while no block is free makes it grow, and
// need not be who keeps the others.
StackIndex Ledger::StackOf(const StreamEvent& event, uint32_t kind) {
  const Definitions& definitions = trace_.definitions();
  undefined_stacks_ += event.shape->ref != 0 && !definitions.stacks.Defined(event.shape->ref);
  const StackIndex stack = definitions.stacks.Distinct(event.shape->ref);
  return IsPinnedByCalls(kind) && definitions.IsTorchPinned(stack) ? definitions.torch_pinned_pool() : stack;
}

SiteIndex Ledger::FindSite(const SiteKey& key) {
  bool is_new;
  const SiteIndex index = sites_.Find(key, &is_new);
  if (!is_new) return index;
  const Level level = LevelOf(key.kind);
  Site& site = sites_.sites()[index];
  if (level != Level::kHandle && !IsForeignMemory(key.kind) && !IsAddressSpace(key.kind)) {
    site.scope = site.peak_scope = ScopeOf(level, key.device);
  }
  if (site.scope != Site::kNoScope && !scopes_[site.scope].is_total()) {
    site.peak_scope = scopes_[site.scope].other_level;
  }
  return index;
}

uint32_t Ledger::ScopeOf(Level level, DeviceIndex device) {
  for (uint32_t i = 0; i < scopes_.size(); ++i) {
    if (scopes_[i].level == level && scopes_[i].device == device) return i;
  }
  scopes_.emplace_back();
  Scope& scope = scopes_.back();
  scope.level = level;
  scope.device = device;
  scope.index = static_cast<uint32_t>(scopes_.size() - 1);
  // Until now there was nothing.
  scope.floors.resize(clock_.step());
  scope.ceilings.resize(clock_.step());
  scope.reserved_floors.resize(clock_.step());
  scope.live_floors.resize(clock_.step());
  return scope.index;
}

uint64_t Ledger::DeviceBytes(DeviceIndex device) const {
  if (device == kHost) return 0;
  const auto defined = trace_.definitions().devices.find(device.value());
  if (defined != trace_.definitions().devices.end() && defined->second.total_bytes != 0) {
    return defined->second.total_bytes;
  }
  for (const Scope& scope : scopes_) {
    if (scope.is_device() && scope.device == device && scope.total) return *scope.total;
  }
  return 0;
}

double Ledger::lost_share() const {
  const auto share = [](uint64_t lost, uint64_t all) {
    return all == 0 ? 0 : std::min(1., static_cast<double>(lost) / static_cast<double>(all));
  };
  const uint64_t lost_events = trace_.lost_events() + unreadable_events_;
  // Of the last blocks of a thread nobody knows how many events they held.
  const double lost = std::max(share(lost_events, trace_.events() + trace_.lost_events()),
                               share(trace_.lost_bytes(), trace_.file_bytes()));
  uint64_t allocations = 0;
  for (const Site& site : sites()) allocations += site.allocations;
  return 1 - (1 - lost) * (1 - share(trace_.counter(schema::COUNTER_TABLE_FULL), allocations));
}

}  // namespace vramtrack
