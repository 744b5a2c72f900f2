// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/exported_process.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "analyzer/export/site_names.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/ledger/kind.h"
#include "proto/tool_version.h"

namespace vramtrack {

namespace {

// Signals when the exported moment is reached. It must be the last observer. Thread-compatible.
class MomentWatch final : public ReplayObserver {
 public:
  // `first` is the ledger after its replay; `failures` are its failures. `step` is an index.
  MomentWatch(const Ledger& first, const std::vector<OutOfMemory>& failures, ExportOptions::At at, uint32_t step,
              const std::function<void(DeviceIndex device)>& come)
      : at_(at), step_(step), come_(come) {
    if (at == ExportOptions::At::kOom && !failures.empty()) oom_ticks_ = failures[0].ticks;
    if (at != ExportOptions::At::kPeak) return;
    for (const Scope& scope : first.scopes()) {
      const bool counts = scope.is_total();
      if (counts && scope.peak > 0) awaited_[{scope.level, scope.device}] = scope.peak_change;
    }
  }

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    LookAtTime();
    LookAtPeak(allocated.allocation.site);
  }
  void OnFree(const ReplayAllocation& /*freed*/) override { LookAtTime(); }
  void OnStepEnd(uint32_t step) override {
    if (at_ == ExportOptions::At::kStep && step == step_) Come();
  }
  void OnOtherEvent(const StreamEvent& /*event*/) override { LookAtTime(); }

  // Call this after the replay: the end is a moment, too, and a failure can be the last event.
  void Finish() {
    if (at_ != ExportOptions::At::kPeak && !has_come_) Come();
  }

 private:
  void LookAtPeak(SiteIndex changed) {
    if (awaited_.empty()) return;
    const uint32_t index = ledger_->sites()[changed].scope;
    if (index == Site::kNoScope) return;
    const Scope& scope = ledger_->scopes()[index];
    const auto awaited = awaited_.find({scope.level, scope.device});
    // The change has been counted already.
    if (awaited == awaited_.end() || scope.changes != awaited->second + 1) return;
    awaited_.erase(awaited);
    come_(scope.device);
  }
  void LookAtTime() {
    if (oom_ticks_ != UINT64_MAX && !has_come_ && ledger_->last_ticks() >= oom_ticks_) Come();
  }
  void Come() {
    has_come_ = true;
    come_(ExportedProcess::kAllDevices);
  }

  const Ledger* ledger_ = nullptr;
  ExportOptions::At at_;
  uint32_t step_;
  const std::function<void(DeviceIndex)>& come_;
  uint64_t oom_ticks_ = UINT64_MAX;
  bool has_come_ = false;
  // The number of the change that reaches the peak, by level and device. An entry is removed when its peak is reached.
  std::map<std::pair<Level, DeviceIndex>, uint64_t> awaited_;
};

// Counts allocations during a second replay. Memory is bounded by the number of sites. Thread-compatible.
class SiteCounter final : public ReplayObserver {
 public:
  explicit SiteCounter(const ExportedProcess& process) : process_(process) {}

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Count(allocated.allocation.site, allocated.objects, allocated.allocation.bytes);
  }

  // Records what is in use now on `device`, which can be kAllDevices.
  void TakeInUse(DeviceIndex device) {
    const Sites& sites = ledger_->sites();
    counts_.resize(sites.size());
    for (const SiteIndex i : sites.indices()) {
      if (device != ExportedProcess::kAllDevices && sites[i].key.device != device) continue;
      counts_[i].inuse_objects = sites[i].live_objects;
      counts_[i].inuse_bytes = sites[i].live_bytes;
      counts_[i].inuse_segment_bytes = sites[i].segment_bytes;
    }
  }

  // Returns the counts after the replay.
  IndexedVector<SiteIndex, SiteCounts> Finish() {
    counts_.resize(ledger_->sites().size());
    return std::move(counts_);
  }

 private:
  void Count(SiteIndex site, uint64_t objects, uint64_t bytes) {
    if (!process_.IsInSpan(ledger_->steps().step())) return;
    if (!counts_.Has(site)) counts_.resize(ledger_->sites().size());
    counts_[site].alloc_objects += objects;
    counts_[site].alloc_bytes += bytes;
  }

  const ExportedProcess& process_;
  const Ledger* ledger_ = nullptr;
  IndexedVector<SiteIndex, SiteCounts> counts_;
};

// What a framework's blocks say is not said again by the segments that they lie in.
void LeaveOutSegments(const Site& site, SiteCounts* counts) {
  counts->inuse_bytes -= counts->inuse_segment_bytes;
  if (counts->inuse_bytes == 0) counts->inuse_objects = 0;
  if (IsSegmentSite(site)) counts->alloc_objects = counts->alloc_bytes = 0;
}

}  // namespace

SiteCounts& SiteCounts::operator+=(const SiteCounts& other) {
  alloc_objects += other.alloc_objects;
  alloc_bytes += other.alloc_bytes;
  inuse_objects += other.inuse_objects;
  inuse_bytes += other.inuse_bytes;
  inuse_segment_bytes += other.inuse_segment_bytes;
  return *this;
}

bool IsWanted(Level level, ExportOptions::Levels levels) {
  using Levels = ExportOptions::Levels;
  return levels == Levels::kAll || level == (levels == Levels::kDriver ? Level::kDriver : Level::kFramework);
}

bool IsExported(const Site& site, ExportOptions::Levels levels) {
  return !IsAddressSpace(site.key.kind) && IsWanted(LevelOf(site.key.kind), levels);
}

std::string DeviceText(DeviceIndex device) { return device == kHost ? "host" : absl::StrCat("cuda:", device.value()); }

ExportedProcess::ExportedProcess(const Trace& trace, const ExportOptions& options)
    : options_(options), analysis_(trace, options.analyze) {}

absl::StatusOr<std::unique_ptr<ExportedProcess>> ExportedProcess::Make(const Trace& trace,
                                                                       const ExportOptions& options) {
  std::unique_ptr<ExportedProcess> process(new ExportedProcess(trace, options));
  if (absl::Status status = process->FindMoment(); !status.ok()) return status;
  return process;
}

std::optional<uint32_t> ExportedProcess::StepIndex(uint64_t number) const {
  const StepClock& clock = ledger().steps();
  if (clock.plan().has_windows()) return std::nullopt;
  const std::vector<uint64_t>& numbers = clock.numbers();
  if (numbers.empty()) return number < clock.step() ? std::optional<uint32_t>(number) : std::nullopt;
  const auto found = std::find(numbers.begin(), numbers.end(), number);
  if (found == numbers.end()) return std::nullopt;
  return static_cast<uint32_t>(found - numbers.begin());
}

absl::Status ExportedProcess::FindMoment() {
  const auto no_step = [this](uint64_t number) {
    const StepClock& clock = ledger().steps();
    const std::string has =
        clock.plan().has_windows() || clock.step() == 0
            ? "it has no steps"
            : absl::StrCat("it has ", clock.step(), " complete ones, from ", analysis_.run().NumberOf(0), " to ",
                           analysis_.run().NumberOf(clock.step() - 1));
    return absl::InvalidArgumentError(absl::StrCat(trace().path(), ": there is no step ", number, ": ", has));
  };
  if (options_.at == ExportOptions::At::kOom && failures().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(trace().path(), ": no allocation failed for lack of memory"));
  }
  if (options_.at == ExportOptions::At::kStep) {
    const std::optional<uint32_t> step = StepIndex(options_.step);
    if (!step) return no_step(options_.step);
    step_ = *step;
  }
  if (options_.steps) {
    const std::optional<uint32_t> first = StepIndex(options_.steps->first), last = StepIndex(options_.steps->second);
    if (!first || !last) return no_step(first ? options_.steps->second : options_.steps->first);
    span_ = {*first, *last};
  }
  return absl::OkStatus();
}

void ExportedProcess::Replay(std::vector<ReplayObserver*> observers,
                             const std::function<void(DeviceIndex)>& come) const {
  MomentWatch watch(ledger(), failures(), options_.at, step_, come);
  observers.push_back(&watch);
  LedgerOptions again = analysis_.replay_options();
  again.observers = std::move(observers);
  Ledger replay(trace(), analysis_.plan(), again);
  replay.Replay();
  watch.Finish();
}

void ExportedProcess::Count() {
  counted_ = true;
  SiteCounter counter(*this);
  Replay({&counter}, [&counter](DeviceIndex device) { counter.TakeInUse(device); });
  IndexedVector<SiteIndex, SiteCounts> counts = counter.Finish();
  for (const SiteIndex i : counts.indices()) {
    const Site& known = ledger().sites()[i];
    if (!IsExported(known, options_.levels)) continue;
    if (options_.levels == ExportOptions::Levels::kAll) LeaveOutSegments(known, &counts[i]);
    if (counts[i].alloc_objects == 0 && counts[i].inuse_objects == 0) continue;
    ExportedSite site;
    site.index = i;
    site.stack = known.key.stack;
    site.level = NameOf(LevelOf(known.key.kind));
    site.kind = KindName(known.key.kind);
    site.device = DeviceText(known.key.device);
    site.category = analysis_.Category(i);
    site.owner = analysis_.symbolizer().Owner(known.key.stack);
    site.verdict = NameOf(analysis_.verdicts()[i].verdict);
    site.counts = counts[i];
    sites_.push_back(std::move(site));
  }
}

const ProcessSummary& ExportedProcess::summary() {
  if (summary_) return *summary_;
  summary_.emplace();
  const TracedProcess& process = trace().definitions().process;
  summary_->identity = {process.host, trace().clock().start_realtime_ns(), process.pid};
  summary_->tool_version = kToolVersion;
  summary_->findings = FindInProcess(trace(), options_.analyze);
  NameSites(&summary_->findings);
  return *summary_;
}

std::string ExportedProcess::Name() const {
  const TracedProcess& process = trace().definitions().process;
  return process.rank ? absl::StrCat("rank ", *process.rank) : absl::StrCat("pid ", process.pid);
}

uint64_t ValueOf(const SiteCounts& counts, const std::string& value) {
  if (value == "inuse_objects") return counts.inuse_objects;
  if (value == "alloc_space") return counts.alloc_bytes;
  if (value == "alloc_objects") return counts.alloc_objects;
  return counts.inuse_bytes;
}

}  // namespace vramtrack
