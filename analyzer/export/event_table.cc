// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>

#include "absl/container/node_hash_map.h"
#include "analyzer/export/site_names.h"
#include "analyzer/export/tables.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/render/text/event_words.h"

namespace vramtrack {
namespace {

// Texts are not owned; null: there is none.
struct EventRow {
  uint64_t ns = 0;
  std::optional<uint32_t> thread;
  std::optional<int64_t> step;
  const std::string *operation = nullptr, *level = nullptr, *kind = nullptr;
  std::optional<uint32_t> device;
  std::optional<uint64_t> bytes, objects;
  std::optional<TableAddress> address;
  std::optional<uint32_t> owner;  // thread that allocated
  std::optional<uint64_t> ordinal;
  const std::string* site = nullptr;
  std::optional<uint32_t> stack;
  std::optional<TableAddress> stream;
  std::optional<uint64_t> error;
  std::optional<std::string> details;

  void Put(TableRows* columns) const {
    TableRows& column = *columns;
    column("time_ns", ns);
    column("thread", thread);
    column("step", step);
    column("operation", LastingText{operation});
    column("level", level);
    column("kind", kind);
    column("device", device);
    column("bytes", bytes);
    column("objects", objects);
    column("address", address);
    column("allocation_thread", owner);
    column("allocation_number", ordinal);
    column("site", site);
    column("stack", stack);
    column("stream", stream);
    column("error", error);
    column("details", details);
  }
};

// Makes rows from a replay, which knows what a free frees.
class EventRows final : public ReplayObserver {
 public:
  EventRows(ExportedProcess* process, TableWriter* table)
      : process_(*process),
        trace_(process->trace()),
        run_(process->analysis().run()),
        names_(&process->analysis()),
        table_(*table) {}

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }

  void OnAllocate(const ReplayAllocation& allocated) override {
    const uint32_t kind = allocated.site.key.kind;
    if (allocated.is_sum) site_of_sum_ = allocated.allocation.site;
    if (allocated.is_sum || !IsShown(kind)) return;
    EventRow row = Row(schema::ALLOCATE);
    Describe(allocated, &row);
    if (allocated.stream != 0 && kind == schema::STREAM_ORDERED) row.stream = TableAddress{allocated.stream};
    table_.Add(row);
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (freed.is_sum) site_of_sum_ = freed.allocation.site;
    if (freed.is_sum || !IsShown(freed.site.key.kind)) return;
    EventRow row = Row(schema::FREE);
    Describe(freed, &row);
    table_.Add(row);
  }
  void OnOtherEvent(const StreamEvent& event) override {
    const std::optional<SiteIndex> site = std::exchange(site_of_sum_, std::nullopt);
    if (!IsShown(event.operation == schema::MARK ? schema::KIND_NONE : event.shape->kind)) return;
    EventRow row = Row(event.operation);
    const bool folded = event.operation == schema::FOLD_ALLOCATE || event.operation == schema::FOLD_FREE;
    if (folded) row.thread.reset();
    row.kind = KindText(event.operation, event.shape->kind);
    if (event.operation != schema::MARK && event.operation != schema::STEP && !IsHostMemory(event.shape->kind)) {
      row.device = event.shape->device;
    }
    if (event.operation != schema::MARK && event.shape->kind != schema::KIND_NONE) {
      row.level = LevelText(event.shape->kind);
    }
    if (folded) {
      row.objects = event.value[0];
      row.bytes = event.value[1];
    }
    if (event.operation == schema::FAIL) {
      row.bytes = event.shape->bytes;
      row.error = event.value[0];
    }
    if (event.operation == schema::FREE_UNKNOWN && event.shape->operation == schema::FREE_UNKNOWN) {
      row.address = TableAddress{event.value[0]};
    }
    if (site) row.site = &names_.IdOf(*site);
    if (HasStack(event.operation)) {
      const StackIndex stack = trace_.definitions().stacks.Distinct(event.shape->ref);
      if (stack != kEmptyStack) row.stack = stack.value();
    }
    row.details = OrNull(EventDetails(trace_, event));
    table_.Add(row);
  }

 private:
  bool IsShown(uint32_t kind) const {
    const ExportOptions::Levels levels = process_.options().levels;
    return process_.IsInSpan(ledger_->steps().step()) &&
           (levels == ExportOptions::Levels::kAll || (kind != schema::KIND_NONE && IsWanted(LevelOf(kind), levels)));
  }

  EventRow Row(uint32_t operation) {
    EventRow row;
    const StreamEvent* event = ledger_->present_event();
    row.ns = trace_.clock().Ns(event != nullptr ? event->time : ledger_->last_ticks());
    if (event != nullptr) row.thread = trace_.threads()[event->slot].thread;
    row.step = ReportedStep(run_, ledger_->steps().step());
    row.operation = OperationText(operation);
    return row;
  }
  void Describe(const ReplayAllocation& one, EventRow* row) {
    const SiteKey& key = one.site.key;
    row->level = LevelText(key.kind);
    row->kind = KindText(schema::ALLOCATE, key.kind);
    row->device = NumberOf(key.device);
    row->bytes = one.allocation.bytes;
    row->objects = 1;
    row->address = TableAddress{one.allocation.address()};
    if (trace_.threads().Has(one.slot)) row->owner = trace_.threads()[one.slot].thread;
    row->ordinal = one.ordinal;
    row->site = &names_.IdOf(one.allocation.site);
    if (key.stack != kEmptyStack) row->stack = key.stack.value();
  }

  const std::string* OperationText(uint32_t operation) {
    return &Lasting(&operations_, operation, [operation] { return OperationName(operation); });
  }
  const std::string* KindText(uint32_t operation, uint32_t kind) {
    auto* kinds = operation == schema::MARK ? &marks_ : &kinds_;
    const std::string& text = Lasting(kinds, kind, [operation, kind] { return KindNameOf(operation, kind); });
    return text.empty() ? nullptr : &text;
  }
  const std::string* LevelText(uint32_t kind) {
    const Level level = LevelOf(kind);
    return &Lasting(&levels_, static_cast<uint32_t>(level), [level] { return NameOf(level); });
  }
  // Texts by number, each at an address of its own.
  using Texts = absl::node_hash_map<uint32_t, std::string>;
  template <typename Make>
  static const std::string& Lasting(Texts* texts, uint32_t number, Make make) {
    const auto [found, is_new] = texts->try_emplace(number);
    if (is_new) found->second = make();
    return found->second;
  }

  const ExportedProcess& process_;
  const Trace& trace_;
  const RunShape& run_;
  const SiteNames names_;
  TableWriter& table_;
  const Ledger* ledger_ = nullptr;
  std::optional<SiteIndex> site_of_sum_;  // until its row is made
  Texts operations_, kinds_, marks_, levels_;
};

void AddEvents(ExportedProcess* process, TableWriter* table) {
  EventRows rows(process, table);
  process->Replay({&rows});
  table->Flush();  // its names go
}

}  // namespace

const ExportTable kEventTable = {"events", DeclareColumns<EventRow>, AddEvents, nullptr};

}  // namespace vramtrack
