// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <map>
#include <utility>

#include "analyzer/export/site_names.h"
#include "analyzer/export/tables.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/render/text/event_words.h"

namespace vramtrack {
namespace {

// Texts are not owned; null: there is none.
struct EventRow {
  const TableProcess* process;
  uint64_t ns = 0;
  std::optional<uint32_t> thread;
  std::optional<int64_t> step;
  const std::string* operation = nullptr;
  const std::string *level = nullptr, *kind = nullptr;
  std::optional<uint32_t> device;
  std::optional<uint64_t> bytes, objects, address;
  std::optional<uint32_t> owner;  // thread that allocated
  std::optional<uint64_t> ordinal;
  const std::string* site = nullptr;
  std::optional<uint32_t> stack;
  std::optional<uint64_t> stream, error;
  std::string details;
};

void AddName(const std::string* name, ColumnValues* values) {
  name == nullptr ? values->AddNull() : values->AddLasting(*name);
}

std::vector<RowColumn<EventRow>> EventColumns() {
  using Column = TableColumn;
  using Values = ColumnValues;
  return WithProcess<EventRow>({
      {{"time_ns", Column::kInteger}, [](const EventRow& row, Values* to) { to->Add(row.ns); }},
      {{"thread", Column::kInteger, true}, [](const EventRow& row, Values* to) { to->AddOptional(row.thread); }},
      {{"step", Column::kInteger, true}, [](const EventRow& row, Values* to) { to->AddOptional(row.step); }},
      {{"operation", Column::kText}, [](const EventRow& row, Values* to) { to->AddLasting(*row.operation); }},
      {{"level", Column::kText, true}, [](const EventRow& row, Values* to) { AddName(row.level, to); }},
      {{"kind", Column::kText, true}, [](const EventRow& row, Values* to) { AddName(row.kind, to); }},
      {{"device", Column::kInteger, true}, [](const EventRow& row, Values* to) { to->AddOptional(row.device); }},
      {{"bytes", Column::kInteger, true}, [](const EventRow& row, Values* to) { to->AddOptional(row.bytes); }},
      {{"objects", Column::kInteger, true}, [](const EventRow& row, Values* to) { to->AddOptional(row.objects); }},
      {{"address", Column::kUnsigned, true}, [](const EventRow& row, Values* to) { to->AddOptional(row.address); }},
      {{"allocation_thread", Column::kInteger, true},
       [](const EventRow& row, Values* to) { to->AddOptional(row.owner); }},
      {{"allocation_number", Column::kInteger, true},
       [](const EventRow& row, Values* to) { to->AddOptional(row.ordinal); }},
      {{"site", Column::kText, true}, [](const EventRow& row, Values* to) { AddName(row.site, to); }},
      {{"stack", Column::kInteger, true}, [](const EventRow& row, Values* to) { to->AddOptional(row.stack); }},
      {{"stream", Column::kUnsigned, true}, [](const EventRow& row, Values* to) { to->AddOptional(row.stream); }},
      {{"error", Column::kInteger, true}, [](const EventRow& row, Values* to) { to->AddOptional(row.error); }},
      {{"details", Column::kText, true}, [](const EventRow& row, Values* to) { to->AddTextOrNull(row.details); }},
  });
}

using EventWriter = TableWriter<EventRow>;

// Makes rows from a replay, which knows what a free frees.
class EventRows final : public ReplayObserver {
 public:
  EventRows(ExportedProcess* process, EventWriter* writer)
      : process_(*process),
        trace_(process->trace()),
        run_(process->analysis().run()),
        row_of_process_(trace_),
        names_(&process->analysis()),
        writer_(*writer) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }

  void OnAllocate(const ReplayAllocation& allocated) override {
    if (!IsWanted(KindOfSite(allocated.allocation.site))) return;
    EventRow row = Row(schema::ALLOCATE);
    Describe(allocated, &row);
    if (allocated.stream != 0 && KindOfSite(allocated.allocation.site) == schema::STREAM_ORDERED) {
      row.stream = allocated.stream;
    }
    Add(row);
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (!IsWanted(KindOfSite(freed.allocation.site))) return;
    EventRow row = Row(schema::FREE);
    Describe(freed, &row);
    Add(row);
  }
  void OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t /*bytes*/, bool /*born*/) override { folded_site_ = site; }
  void OnOtherEvent(const StreamEvent& event) override {
    const std::optional<SiteIndex> site = std::exchange(folded_site_, std::nullopt);
    if (!IsWanted(event.operation == schema::MARK ? schema::KIND_NONE : event.shape->kind)) return;
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
      row.address = event.value[0];
    }
    if (site) row.site = &names_.IdOf(*site);
    if (HasStack(event.operation)) {
      const StackIndex stack = trace_.definitions().stacks.Distinct(event.shape->ref);
      if (stack != kEmptyStack) row.stack = stack.value();
    }
    row.details = EventDetails(trace_, event);
    Add(row);
  }

 private:
  bool IsWanted(uint32_t kind) const {
    if (!open_) return false;
    if (const auto& span = process_.StepSpan()) {
      const uint32_t step = ledger_->steps().step();
      if (step < span->first || step > span->second) return false;
    }
    switch (process_.options().levels) {
      case ExportOptions::Levels::kAll:
        return true;
      case ExportOptions::Levels::kDriver:
        return kind != schema::KIND_NONE && LevelOf(kind) == Level::kDriver;
      case ExportOptions::Levels::kFramework:
        return kind != schema::KIND_NONE && LevelOf(kind) == Level::kFramework;
    }
    return true;
  }
  uint32_t KindOfSite(SiteIndex site) const { return ledger_->sites()[site].key.kind; }

  EventRow Row(uint32_t operation) {
    EventRow row;
    row.process = &row_of_process_;
    const StreamEvent* event = ledger_->present_event();
    row.ns = trace_.clock().Ns(event != nullptr ? event->time : ledger_->last_ticks());
    if (event != nullptr) row.thread = trace_.threads()[event->slot].thread;
    row.step = ReportedStep(run_, ledger_->steps().step());
    row.operation = OperationText(operation);
    return row;
  }
  void Describe(const ReplayAllocation& one, EventRow* row) {
    const SiteKey& key = ledger_->sites()[one.allocation.site].key;
    row->level = LevelText(key.kind);
    row->kind = KindText(schema::ALLOCATE, key.kind);
    row->device = NumberOf(key.device);
    row->bytes = one.allocation.bytes;
    row->objects = 1;
    row->address = one.allocation.address();
    if (trace_.threads().Has(one.slot)) row->owner = trace_.threads()[one.slot].thread;
    row->ordinal = one.ordinal;
    row->site = &names_.IdOf(one.allocation.site);
    if (key.stack != kEmptyStack) row->stack = key.stack.value();
  }
  void Add(const EventRow& row) { open_ = writer_.Add(row); }

  const std::string* OperationText(uint32_t operation) {
    return Lasting(&operations_, operation, [operation] { return OperationName(operation); });
  }
  const std::string* KindText(uint32_t operation, uint32_t kind) {
    auto* kinds = operation == schema::MARK ? &marks_ : &kinds_;
    const std::string* text = Lasting(kinds, kind, [operation, kind] { return KindNameOf(operation, kind); });
    return text->empty() ? nullptr : text;
  }
  const std::string* LevelText(uint32_t kind) {
    const auto level = static_cast<uint32_t>(LevelOf(kind));
    return Lasting(&levels_, level, [kind] { return std::string(NameOf(LevelOf(kind))); });
  }
  // Texts by small numbers, each at an address of its own.
  using Texts = std::deque<std::optional<std::string>>;
  template <typename Make>
  static const std::string* Lasting(Texts* texts, uint32_t number, Make make) {
    constexpr uint32_t kMost = 1 << 10;
    number = std::min(number, kMost);
    if (number >= texts->size()) texts->resize(number + 1);
    std::optional<std::string>& text = (*texts)[number];
    if (!text) text = make();
    return &*text;
  }

  const ExportedProcess& process_;
  const Trace& trace_;
  const RunShape& run_;
  const TableProcess row_of_process_;
  const SiteNames names_;
  EventWriter& writer_;
  const Ledger* ledger_ = nullptr;
  std::optional<SiteIndex> folded_site_;
  bool open_ = true;
  Texts operations_, kinds_, marks_, levels_;
};

class EventTable final : public Exporter {
 public:
  explicit EventTable(const MakeTableFormat& make) : writer_(EventColumns(), make) {}

  absl::Status Add(ExportedProcess& process) override {
    EventRows rows(&process, &writer_);
    process.Replay({&rows}, [](DeviceIndex /*device*/) {});
    writer_.Flush();  // its names go
    return absl::OkStatus();
  }
  void Finish() override { writer_.Finish(); }

 private:
  EventWriter writer_;
};

}  // namespace

std::unique_ptr<Exporter> MakeEventTable(const MakeTableFormat& make) { return std::make_unique<EventTable>(make); }

}  // namespace vramtrack
