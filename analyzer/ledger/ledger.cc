// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/ledger.h"

#include <algorithm>
#include <utility>

#include "analyzer/ingest/event_pipe.h"
#include "proto/mappable.h"

namespace vramtrack {
namespace {

// Beyond any device: sums of damaged sizes stay far from 2^64.
constexpr uint64_t kMaxBytes = uint64_t{1} << 48;

uint64_t Rounded(const Site& site, const LiveAllocation& allocation) {
  if (LevelOf(site.key.kind) == Level::kFramework) return allocation.bytes;  // they are as the allocator rounded them
  return RoundedBytes(HasDeviceAddress(site.key.kind) ? allocation.address : 0, allocation.bytes);
}

// Ticks that the first bins of a timeline without steps cover.
uint64_t BinTicks(const Trace& trace) {
  uint64_t last = std::max(trace.end_ticks(), trace.counter(schema::COUNTER_CLOCK_TICKS));
  for (const ThreadBlocks& thread : trace.threads()) {
    if (!thread.blocks.empty()) last = std::max(last, thread.blocks.back().first_time);
  }
  const uint64_t start = trace.clock().start_ticks();
  return last > start ? (last - start) / Timeline::kMaxBins + 1 : 1;
}

}  // namespace

Ledger::Ledger(const Trace& trace, StepPlan plan, LedgerOptions options)
    : trace_(trace),
      options_(std::move(options)),
      clock_(std::move(plan)),
      live_(static_cast<uint32_t>(trace.threads().size()) + (options_.unseen != nullptr ? 1 : 0)),
      recent_(kRecentSites),
      timeline_in_steps_(clock_.plan().has_steps() && !clock_.plan().has_windows()),
      timeline_(timeline_in_steps_ ? 1 : BinTicks(trace)),
      counterfactual_(options_.watched) {
  for (const auto& [device, change] : options_.peak_changes) peak_windows_.emplace(device, change);
  AddFrameworkLevels();
}

void Ledger::Replay() {
  for (ReplayObserver* observer : options_.observers) observer->OnBegin(*this);
  CountPast();
  if (options_.unseen != nullptr && !options_.unseen->changes.empty()) {
    unseen_ticks_ = options_.unseen->changes.front().ticks;
  }
  EventPipe pipe(trace_, options_.decode_ahead);
  for (;;) {
    const std::vector<StreamEvent>& events = pipe.Next();
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
  unreadable_events_ = pipe.unreadable_events();
  SettleFailures();
  releases_.CloseAll();
  for (uint32_t i = 0; options_.histories && i < histories_.size(); ++i) {
    Site& site = sites_.sites()[i];
    // What the last step, which is not complete, did is nobody's history.
    if (site.activity.step < clock_.step()) SettleActivity(&site, i);
  }
  for (Scope& scope : scopes_) {
    scope.end_moment = MomentOf(scope);
    for (Site& site : sites_.sites()) {
      if (site.peak_scope < scopes_.size() && &scopes_[site.peak_scope] == &scope &&
          site.peak_epoch != scope.peak_epoch) {
        site.NotePeak(scope.peak_epoch);
      }
    }
  }
}

void Ledger::MoveClock(uint64_t time) {
  if (time <= last_ticks_) return;
  last_ticks_ = time;
  if (timeline_in_steps_) return;
  const uint64_t start = trace_.clock().start_ticks();
  const uint64_t position = last_ticks_ > start ? last_ticks_ - start : 0;
  if (position >= timeline_.bin_end()) timeline_.MoveTo(position);
}

void Ledger::Apply(const StreamEvent& event) {
  ++events_;
  while (__builtin_expect(event.time >= clock_.next_time(), 0)) {
    MoveClock(clock_.next_time());
    clock_.PassTime();
    EndStep(event.past);
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
      Fail(event);
      break;
    case schema::STEP:
      if (clock_.OnMark(event.slot, /*is_step=*/true, event.value[0])) EndStep(event.past);
      break;
    case schema::MEMORY_INFO:
      TellMemory(event);
      break;
    case schema::MARK:
      if (event.shape->kind == schema::MARK_RELEASE && !event.past) {
        releases_.OnMark(event.slot, trace_.definitions().stacks.Distinct(event.shape->ref), clock_.step(),
                         last_ticks_);
      }
      if (clock_.OnMark(event.slot, /*is_step=*/false, 0)) EndStep(event.past);
      break;
    case schema::FRAMEWORK_MEMORY:
      CheckFramework(event);
      break;
    case schema::FOLD_ALLOCATE:
      FoldAllocate(event);
      break;
    case schema::FOLD_FREE:
      FoldFree(event);
      break;
    case schema::DEVICE_RESET:
      for (const LiveTable::Named& gone : live_.RemoveDevice(std::min(event.shape->device, SiteKey::kMaxDevice))) {
        Vanish(gone.allocation, {gone.slot, gone.ordinal});
      }
      for (const MappedMemory::Ended& gone : mapped_.RemoveDevice(std::min(event.shape->device, SiteKey::kMaxDevice))) {
        Vanish(gone.allocation, gone.name);
      }
      break;
    default:
      break;
  }
  for (ReplayObserver* observer : options_.observers) observer->OnOtherEvent(event);
}

uint32_t Ledger::SiteOf(const StreamEvent& event) {
  if (__builtin_expect(*event.note != 0, 1)) return *event.note - 1;
  // Blocks have their own shapes, the same over and over.
  const uint32_t kind = event.shape->kind & 0xff;
  const uint32_t device = IsHostMemory(kind) ? SiteKey::kHost : std::min(event.shape->device, SiteKey::kMaxDevice);
  const uint64_t key = uint64_t{event.shape->ref} << 32 | (device & 0xffff) << 8 | kind;
  RecentSite& recent = recent_[key * 0x9e3779b97f4a7c15 >> 52];
  static_assert(kRecentSites == 1 << 12, "12 bits are left of the product");
  if (recent.key != key) {
    recent = {key, FindSite({kind, device, StackOf(event, kind)})};
  }
  *event.note = recent.site + 1;
  return recent.site;
}

// All growth of PyTorch's pinned-memory pool is one site: whoever asks while no block is free makes it grow, and need
// not be who keeps the others.
uint32_t Ledger::StackOf(const StreamEvent& event, uint32_t kind) const {
  const Definitions& definitions = trace_.definitions();
  const uint32_t stack = definitions.stacks.Distinct(event.shape->ref);
  return IsPinnedByCalls(kind) && definitions.IsTorchPinned(stack) ? definitions.torch_pinned_pool() : stack;
}

uint32_t Ledger::FindSite(const SiteKey& key) {
  bool is_new;
  const uint32_t index = sites_.Find(key, &is_new);
  if (is_new) NewSite(key, index);
  return index;
}

void Ledger::SettleActivity(Site* site, uint32_t index) {
  const StepActivity& activity = site->activity;
  SiteHistoryBuilder& history = histories_[index];
  if (activity.born_objects == activity.died_objects) {
    if (activity.born_objects > 0) history.OnShortLived(activity.step, activity.born_objects, activity.born_bytes);
  } else {
    history.OnBirth(activity.step, activity.born_bytes, activity.born_objects);
    if (activity.died_objects > 0) {
      history.OnDeath(activity.step, activity.step, activity.died_bytes, activity.died_objects);
    }
  }
  site->activity = {};
}

// Before the first change of what the site holds in a step: that is what it held at the ends of the steps before.
void Ledger::SettleLevel(Site* site, uint32_t index) {
  levels_[index].OnLevel(clock_.step(), {site->live_bytes, site->live_objects},
                         {site->bytes_allocated, site->allocations}, {site->least_bytes, site->least_objects});
  site->level_step = clock_.step();
  site->least_bytes = site->live_bytes;
  site->least_objects = site->live_objects;
}

StepLevels Ledger::levels(uint32_t site) const {
  const Site& of = sites()[site];
  StepLevelsBuilder whole = levels_[site];
  if (of.level_step < clock_.step()) {
    whole.OnLevel(clock_.step(), {of.live_bytes, of.live_objects}, {of.bytes_allocated, of.allocations},
                  {of.least_bytes, of.least_objects});
  }
  return whole.Finish(clock_.step());
}

std::vector<SiteBirths> Ledger::births(uint32_t site) const {
  std::vector<SiteBirths> births = levels_[site].births();
  births.push_back({clock_.step(), sites()[site].allocations, sites()[site].bytes_allocated});
  return births;
}

void Ledger::NoteBirth(Site* site, uint32_t index, uint64_t bytes, uint32_t objects) {
  if (site->level_step != clock_.step()) SettleLevel(site, index);
  StepActivity& activity = site->activity;
  if (activity.step != clock_.step()) {
    SettleActivity(site, index);
    activity.step = clock_.step();
  }
  activity.born_objects += objects;
  activity.born_bytes += bytes;
}

void Ledger::NoteDeath(Site* site, const LiveAllocation& allocation, uint32_t objects) {
  if (site->level_step != clock_.step()) SettleLevel(site, allocation.site);
  StepActivity& activity = site->activity;
  if (allocation.birth_step == clock_.step()) {
    // Its birth has brought the activity to this step.
    activity.died_objects += objects;
    activity.died_bytes += allocation.bytes;
    return;
  }
  if (activity.step != clock_.step()) SettleActivity(site, allocation.site);
  histories_[allocation.site].OnDeath(allocation.birth_step, clock_.step(), allocation.bytes, objects);
}

uint32_t Ledger::NewSite(const SiteKey& key, uint32_t index) {
  const Level level = LevelOf(key.kind);
  Site& site = sites_.sites()[index];
  if (level != Level::kHandle && !IsForeignMemory(key.kind) && !IsAddressSpace(key.kind))
    site.scope = site.peak_scope = ScopeOf(level, key.device);
  if (site.scope != Site::kNoScope && !scopes_[site.scope].is_leading() && scopes_[site.scope].segments != nullptr) {
    site.peak_scope = scopes_[site.scope].other_level;
  }
  if (options_.histories) {
    histories_.emplace_back();
    levels_.emplace_back();
  }
  return index;
}

uint32_t Ledger::ScopeOf(Level level, uint32_t device) {
  for (uint32_t i = 0; i < scopes_.size(); ++i) {
    if (scopes_[i].level == level && scopes_[i].device == device) return i;
  }
  scopes_.emplace_back();
  Scope& scope = scopes_.back();
  scope.level = level;
  scope.device = device;
  // Until now there was nothing.
  scope.floors.resize(clock_.step());
  scope.ceilings.resize(clock_.step());
  scope.reserved_floors.resize(clock_.step());
  scope.live_floors.resize(clock_.step());
  if (options_.timeline) scope.timeline_row = timeline_.AddRow();
  return static_cast<uint32_t>(scopes_.size() - 1);
}

void Ledger::Allocate(const StreamEvent& event) {
  const uint32_t index = SiteOf(event);
  if (__builtin_expect(clock_.OnAllocation(index), 0)) EndStep(event.past);
  if (__builtin_expect(clock_.plan().at_inside, 0) && clock_.OnAllocationBy(sites_.sites()[index].key.stack)) {
    EndStep(event.past);
  }
  if (options_.histories && !event.past) similarity_.OnEvent(index);
  if (__builtin_expect(IsPinnedByCalls(event.shape->kind), 0) && trace_.definitions().torch_pinned_pool() != 0 &&
      sites_.sites()[index].key.stack == trace_.definitions().torch_pinned_pool()) {
    ++pinned_pool_growth_[trace_.definitions().stacks.Distinct(event.shape->ref)];
  }
  const uint64_t bytes = std::min(event.shape->bytes, kMaxBytes);
  LiveAllocation allocation;
  allocation.bytes = bytes;
  allocation.address = event.address & ((uint64_t{1} << 56) - 1);
  allocation.device = std::min(event.shape->device, SiteKey::kMaxDevice);
  allocation.site = index;
  allocation.birth_step = clock_.step();
  if (__builtin_expect(releases_.any_open(), 0)) releases_.Close(event.slot);
  if (__builtin_expect(!pending_failures_.empty(), 0)) ForgetRetry(event);
  LiveAllocation replaced;
  if (__builtin_expect(live_.Insert(event.slot, event.ordinal, allocation, &replaced), 0))
    Vanish(replaced, {event.slot, event.ordinal});

  if (__builtin_expect(IsMappable(event.shape->kind), 0)) {
    mapped_.OnCreate({event.slot, event.ordinal}, event.address, index);
  }
  if (__builtin_expect(event.shape->kind == schema::MAPPING, 0)) {
    const auto memory = mapped_.OnMap({event.slot, event.ordinal}, event.shape->stream);
    if (memory) EnterRange(allocation, memory->site, memory->name, /*mapped=*/true);
  }

  // What the device holds between two steps tells where one ends, whatever is allocated there.
  if (__builtin_expect(options_.gaps != nullptr && !event.past, 0)) {
    const Scope& driver = scopes_[ScopeOf(Level::kDriver, allocation.device)];
    options_.gaps->OnEvent(index, driver.segments == nullptr ? driver.live : scopes_[driver.other_level].live);
  }

  Enter(allocation, {event.slot, event.ordinal}, event.shape->stream);
}

// What is in live_ already.
void Ledger::Enter(const LiveAllocation& allocation, AllocationName name, uint64_t stream) {
  Site& site = sites_.sites()[allocation.site];
  ++site.allocations;
  site.bytes_allocated += allocation.bytes;
  if (options_.histories) NoteBirth(&site, allocation.site, allocation.bytes);
  if (site.scope == Site::kNoScope) {
    ++site.live_objects;
    site.live_bytes += allocation.bytes;
  } else {
    Raise(&site, &scopes_[site.scope], allocation, name);
  }
  for (ReplayObserver* observer : options_.observers)
    observer->OnAllocate({name.first, name.second, allocation, stream});
}

void Ledger::Raise(Site* site, Scope* scope, const LiveAllocation& allocation, AllocationName name) {
  // What a site held at the peak is what it held before its first change since: noted then, so raising the peak costs
  // nothing however many sites there are.
  if (const uint32_t epoch = scopes_[site->peak_scope].peak_epoch; site->peak_epoch != epoch) site->NotePeak(epoch);
  ++site->live_objects;
  site->live_bytes += allocation.bytes;
  scope->live += allocation.bytes;
  if (scope->is_device()) {
    if (HasDeviceAddress(site->key.kind)) {
      scope->pages.Add(allocation.address, allocation.bytes);
    } else {
      scope->pages.AddUnplaced(allocation.bytes);
    }
  }
  if (__builtin_expect(scope->segments != nullptr, 0)) {
    if (scope->level == Level::kFramework) {
      PlaceBlock(allocation);
    } else if (IsDeviceRange(site->key.kind)) {
      EnterRange(allocation, allocation.site, name, /*mapped=*/false);
    }
    NoteLevel(scope);
  } else if (scope->live > scope->ceiling) {
    scope->ceiling = scope->live;
  }
  if (PeakWindow* window = WindowOf(*scope)) window->OnBirth(scope->changes, name, Rounded(*site, allocation));
  if (scope->live > scope->peak) RaisePeak(scope);
  ++scope->changes;
  if (options_.timeline) Record(*scope);
  if (__builtin_expect(counterfactual_.watching(), 0)) {
    counterfactual_.OnAllocate(allocation.site, site->scope, allocation.bytes, scope->live);
  }
}

void Ledger::Free(const StreamEvent& event) {
  LiveAllocation allocation;
  if (__builtin_expect(!live_.Remove(event.owner, event.ordinal, &allocation), 0)) {
    ++unknown_frees_;
    return;
  }
  const AllocationName name = {event.owner, event.ordinal};
  const uint32_t kind = sites_.sites()[allocation.site].key.kind;
  if (__builtin_expect(IsMappable(kind) && mapped_.OnRelease(name, allocation), 0)) return;
  // A block's free changes no segment.
  const bool may_release = !segments_.empty() && LevelOf(kind) != Level::kFramework;
  const uint64_t segments = may_release ? SegmentBytes() : 0;
  Vanish(allocation, name);
  if (may_release) NoteRelease(event.slot, segments - SegmentBytes());
  if (__builtin_expect(releases_.any_open(), 0) && LevelOf(kind) == Level::kFramework && !segments_.empty()) {
    releases_.Close(event.slot);
  }
  if (__builtin_expect(kind == schema::MAPPING, 0)) {
    if (const auto ended = mapped_.OnUnmap(name)) Vanish(ended->allocation, ended->name);
  }
}

void Ledger::Vanish(const LiveAllocation& allocation, AllocationName name) {
  Site& site = sites_.sites()[allocation.site];
  ++site.frees;
  if (options_.histories) NoteDeath(&site, allocation);
  if (site.scope == Site::kNoScope) {
    if (__builtin_expect(site.key.kind == schema::MAPPING, 0)) LeaveRange(allocation);
    --site.live_objects;
    site.live_bytes -= allocation.bytes;
    site.NoteLeast();
    for (ReplayObserver* observer : options_.observers) observer->OnFree({name.first, name.second, allocation});
    return;
  }
  Scope& scope = scopes_[site.scope];
  if (const uint32_t epoch = scopes_[site.peak_scope].peak_epoch; site.peak_epoch != epoch) site.NotePeak(epoch);
  if (__builtin_expect(scope.segments != nullptr, 0)) {
    if (scope.level == Level::kFramework) {
      scope.segments->RemoveBlock(allocation.address, allocation.bytes);
    } else if (IsDeviceRange(site.key.kind)) {
      LeaveRange(allocation);
    }
  }
  --site.live_objects;
  site.live_bytes -= allocation.bytes;
  site.NoteLeast();
  scope.live -= allocation.bytes;
  if (scope.is_device()) {
    if (HasDeviceAddress(site.key.kind)) {
      scope.pages.Remove(allocation.address, allocation.bytes);
    } else {
      scope.pages.RemoveUnplaced(allocation.bytes);
    }
  }
  NoteLevel(&scope);
  if (PeakWindow* window = WindowOf(scope)) window->OnDeath(scope.changes, name, Rounded(site, allocation));
  ++scope.changes;
  if (options_.timeline) Record(scope);
  if (__builtin_expect(counterfactual_.watching(), 0)) {
    counterfactual_.OnFree(allocation.site, site.scope, allocation.bytes);
  }
  for (ReplayObserver* observer : options_.observers) observer->OnFree({name.first, name.second, allocation});
}

PeakWindow* Ledger::WindowOf(const Scope& scope) {
  if (__builtin_expect(peak_windows_.empty(), 1) || !scope.is_leading()) return nullptr;
  const auto found = peak_windows_.find(scope.device);
  return found != peak_windows_.end() && found->second.Contains(scope.changes) ? &found->second : nullptr;
}

Ledger::Levels Ledger::LevelsOf(const Scope& scope) const {
  if (__builtin_expect(scope.segments != nullptr, 0)) {
    const Scope& framework = scope.level == Level::kFramework ? scope : scopes_[scope.other_level];
    const FrameworkShare share = ShareOf(framework);
    const uint64_t reserved = framework.live + share.cached;
    return {share.UsedOnDevice(reserved), reserved, framework.live};
  }
  const uint64_t reserved = scope.is_device() ? scope.pages.reserved() : scope.live;
  return {reserved + scope.outside, reserved, scope.live};
}

void Ledger::Record(const Scope& scope) {
  const bool of_framework = scope.segments != nullptr && scope.level != Level::kFramework;
  const Levels levels = LevelsOf(scope);
  timeline_.Record(of_framework ? scopes_[scope.other_level].timeline_row : scope.timeline_row, levels.device_used,
                   levels.reserved, levels.live);
}

void Ledger::RaisePeak(Scope* scope) {
  scope->peak = scope->live;
  scope->peak_change = scope->changes;
  ++scope->peak_epoch;
  scope->peak_moment = MomentOf(*scope);
}

Moment Ledger::MomentOf(const Scope& scope) const {
  Moment moment;
  moment.step = clock_.step();
  moment.ticks = last_ticks_;
  if (scope.is_device()) {
    moment.usage = scope.pages.usage();
  } else if (scope.segments != nullptr) {
    const FrameworkShare& share = moment.framework = ShareOf(scope);
    moment.usage.live = scope.live;
    moment.usage.reserved = scope.live + share.cached;
    moment.usage.free_pinned = share.cached - share.releasable;
    moment.device_used = share.UsedOnDevice(moment.usage.reserved);
    return moment;
  } else {
    moment.usage.live = moment.usage.reserved = scope.live;
  }
  moment.device_used = moment.usage.reserved + scope.outside;
  return moment;
}

void Ledger::TellMemory(const StreamEvent& event) {
  Scope& scope = scopes_[ScopeOf(Level::kDriver, std::min(event.shape->device, SiteKey::kMaxDevice))];
  const uint64_t free = event.value[0], total = event.value[1];
  scope.total = total;
  const uint64_t used = total > free ? total - free : 0;
  scope.outside = used > scope.pages.reserved() ? used - scope.pages.reserved() : 0;
}

uint32_t Ledger::StepsWithin(uint64_t ticks) const {
  const uint64_t since = last_ticks_ > ticks ? last_ticks_ - ticks : 0;
  return static_cast<uint32_t>(step_ends_.end() - std::lower_bound(step_ends_.begin(), step_ends_.end(), since));
}

void Ledger::FoldAllocate(const StreamEvent& event) {
  const uint32_t index = SiteOf(event);
  Fold fold;
  fold.site = index;
  fold.objects = std::min<uint64_t>(event.value[0], INT32_MAX);
  fold.bytes = std::min(event.value[1], kMaxBytes);
  for (uint64_t i = 0; i < fold.objects && folded_steps_ < kMaxFoldedSteps; ++i) {
    if (!clock_.OnAllocation(index)) break;
    ++folded_steps_;
    EndStep(/*past=*/true);
  }
  fold.birth_step = clock_.step();
  const auto objects = static_cast<uint32_t>(fold.objects);
  Site& site = sites_.sites()[index];
  site.allocations += fold.objects;
  site.bytes_allocated += fold.bytes;
  if (options_.histories) NoteBirth(&site, index, fold.bytes, objects);
  if (event.ordinal == 0) {
    site.frees += fold.objects;
    if (!options_.histories) return;
    site.activity.died_objects += objects;
    site.activity.died_bytes += fold.bytes;
    histories_[index].OnFoldedLifetime(StepsWithin(event.value[2]));
    return;
  }
  folds_[event.ordinal] = fold;
  MoveFold(fold, /*born=*/true);
}

void Ledger::FoldFree(const StreamEvent& event) {
  const auto found = folds_.find(event.ordinal);
  if (found == folds_.end()) return;  // counted with its birth
  const Fold fold = found->second;
  folds_.erase(found);
  Site& site = sites_.sites()[fold.site];
  site.frees += fold.objects;
  if (options_.histories) {
    LiveAllocation all;
    all.site = fold.site;
    all.birth_step = fold.birth_step;
    all.bytes = fold.bytes;
    NoteDeath(&site, all, static_cast<uint32_t>(fold.objects));
  }
  MoveFold(fold, /*born=*/false);
}

void Ledger::MoveFold(const Fold& fold, bool born) {
  Site& site = sites_.sites()[fold.site];
  Scope* scope = site.scope == Site::kNoScope ? nullptr : &scopes_[site.scope];
  if (scope != nullptr) {
    if (const uint32_t epoch = scopes_[site.peak_scope].peak_epoch; site.peak_epoch != epoch) site.NotePeak(epoch);
  }
  site.live_objects += born ? fold.objects : -fold.objects;
  site.live_bytes += born ? fold.bytes : -fold.bytes;
  site.NoteLeast();
  if (scope == nullptr) return;
  scope->live += born ? fold.bytes : -fold.bytes;
  if (scope->level == Level::kFramework) scope->folded += born ? fold.bytes : -fold.bytes;
  if (scope->is_device()) {
    if (born) {
      scope->pages.AddUnplaced(fold.bytes);
    } else {
      scope->pages.RemoveUnplaced(fold.bytes);
    }
  }
  NoteLevel(scope);
  if (scope->live > scope->peak) RaisePeak(scope);
  ++scope->changes;
  if (options_.timeline) Record(*scope);
  for (ReplayObserver* observer : options_.observers) observer->OnFold(fold.site, fold.objects, fold.bytes, born);
  if (!counterfactual_.watching()) return;
  if (born) {
    counterfactual_.OnAllocate(fold.site, site.scope, fold.bytes, scope->live);
  } else {
    counterfactual_.OnFree(fold.site, site.scope, fold.bytes);
  }
}

void Ledger::EndStep(bool past) {
  step_ends_.push_back(last_ticks_);
  if (options_.histories) {
    if (past) {
      similarity_.OnUnknownStepEnd();
    } else {
      similarity_.OnStepEnd();
    }
  }
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
  if (timeline_in_steps_ && clock_.step() >= timeline_.bin_end()) timeline_.MoveTo(clock_.step());
  for (ReplayObserver* observer : options_.observers) observer->OnStepEnd(clock_.step() - 1);
}

}  // namespace vramtrack
