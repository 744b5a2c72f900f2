// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/exporter.h"

#include <map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/export/frame_names.h"
#include "analyzer/export/pickle_writer.h"
#include "analyzer/export/segment_snapshot.h"
#include "analyzer/findings/core/device_findings.h"

namespace vramtrack {
namespace {

using Action = DeviceSnapshot::Action;

// By Action. The viewer joins the two halves of a free; nothing is known of what lies between them.
constexpr const char* kNames[][3] = {
    {"alloc"},
    {"free_requested", "free_completed"},
    {"segment_alloc"},
    {"segment_free"},
    {"segment_map"},
    {"segment_unmap"},
    {"segment_alloc", "alloc"},
    {"free_requested", "free_completed", "segment_free"},
    {"segment_alloc", "alloc"},
    {"free_requested", "free_completed", "segment_free"},
    {"oom"},
};

class TorchSnapshot final : public Exporter {
 public:
  TorchSnapshot(const ExportOptions& options, ExportSink sink) : options_(options), sink_(std::move(sink)) {}

  absl::Status Add(ExportedProcess& process) override {
    if (process_ != nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          process.trace().path(), ": a snapshot is of one process: export each trace of the folder by itself"));
    }
    process_ = &process;
    SnapshotObserver observer(process.ledger(), process.failures(), process.StepSpan(), options_.max_events);
    process.Replay({&observer}, [&observer](DeviceIndex device) { observer.Take(device); });
    const std::map<DeviceIndex, DeviceSnapshot> snapshots = observer.Finish();
    PickleWriter writer(sink_);
    writer_ = &writer;
    writer.BeginDict();
    WriteSegments(snapshots);
    WriteTraces(snapshots);
    WriteSettings();
    writer.Key("external_annotations");
    writer.BeginList();
    writer.EndList();
    writer.EndDict();
    writer.End();
    return absl::OkStatus();
  }

 private:
  bool IsWanted(const DeviceSnapshot::Segment& segment) const {
    return segment.of_framework || options_.levels != ExportOptions::Levels::kFramework;
  }

  void WriteSegments(const std::map<DeviceIndex, DeviceSnapshot>& snapshots) {
    writer_->Key("segments");
    PickleWriter::List list = writer_->BeginList();
    for (const auto& [device, snapshot] : snapshots) {
      for (const DeviceSnapshot::Segment& segment : snapshot.segments) {
        if (!IsWanted(segment)) continue;
        writer_->Item(&list);
        WriteSegment(device, segment);
      }
    }
    writer_->EndList();
  }

  void WriteSegment(DeviceIndex device, const DeviceSnapshot::Segment& segment) {
    uint64_t live = 0;
    for (const DeviceSnapshot::Block& block : segment.blocks) live += block.bytes;
    writer_->BeginDict();
    Number("device", device.value());
    Number("address", segment.address);
    Number("total_size", segment.bytes);
    for (const char* of_blocks : {"allocated_size", "active_size", "requested_size"}) Number(of_blocks, live);
    Number("stream", 0);
    writer_->Key("segment_type");
    writer_->String(segment.small ? "small" : "large");
    writer_->Key("segment_pool_id");
    writer_->IntPair(0, 0);
    writer_->Key("is_expandable");
    writer_->Bool(segment.expandable);
    Frames(StackOf(segment.site));
    writer_->Key("blocks");
    PickleWriter::List list = writer_->BeginList();
    uint64_t at = segment.address;
    const uint64_t end = segment.address + segment.bytes;
    for (const DeviceSnapshot::Block& block : segment.blocks) {
      const uint64_t bytes = std::min(block.bytes, end - block.address);
      if (block.address < at) continue;
      if (block.address > at) WriteBlock(&list, at, block.address - at, "inactive", kEmptyStack);
      WriteBlock(&list, block.address, bytes, "active_allocated", StackOf(block.site));
      at = block.address + bytes;
    }
    if (at < end) WriteBlock(&list, at, end - at, "inactive", kEmptyStack);
    writer_->EndList();
    writer_->EndDict();
  }

  void WriteBlock(PickleWriter::List* list, uint64_t address, uint64_t bytes, const char* state, StackIndex stack) {
    writer_->Item(list);
    writer_->BeginDict();
    Number("address", address);
    Number("size", bytes);
    Number("requested_size", bytes);
    writer_->Key("state");
    writer_->String(state);
    Frames(stack);
    writer_->EndDict();
  }

  void WriteTraces(const std::map<DeviceIndex, DeviceSnapshot>& snapshots) {
    writer_->Key("device_traces");
    PickleWriter::List devices = writer_->BeginList();
    const uint32_t count = snapshots.empty() ? 0 : snapshots.rbegin()->first.value() + 1;
    for (uint32_t device = 0; device < count; ++device) {
      writer_->Item(&devices);
      PickleWriter::List list = writer_->BeginList();
      const auto found = snapshots.find(DeviceIndex(device));
      if (found != snapshots.end()) {
        for (const DeviceSnapshot::Event& event : found->second.events) WriteEvent(&list, event);
      }
      writer_->EndList();
    }
    writer_->EndList();
  }

  void WriteEvent(PickleWriter::List* list, const DeviceSnapshot::Event& event) {
    const bool other = event.action == Action::kOtherAlloc || event.action == Action::kOtherFree;
    if (other && options_.levels == ExportOptions::Levels::kFramework) return;
    const TickClock& clock = process_->trace().clock();
    for (const char* name : kNames[static_cast<size_t>(event.action)]) {
      if (name == nullptr) break;
      writer_->Item(list);
      writer_->BeginDict();
      writer_->Key("action");
      writer_->String(name);
      if (event.action == Action::kOom) {
        const OutOfMemory& failed = process_->failures()[event.address];
        Number("device_free", DeviceFreeBytes(process_->trace(), process_->ledger(), failed).value_or(0));
      } else {
        Number("addr", event.address);
      }
      Number("size", event.bytes);
      Number("stream", 0);
      Number("time_us", (clock.start_realtime_ns() + clock.Ns(event.ticks)) / 1000);
      Frames(event.stack);
      writer_->EndDict();
    }
  }

  void WriteSettings() {
    writer_->Key("allocator_settings");
    writer_->BeginDict();
    for (const auto& [name, value] : process_->trace().definitions().process.environment) {
      if (name != "PYTORCH_CUDA_ALLOC_CONF" && name != "PYTORCH_ALLOC_CONF") continue;
      writer_->Key("PYTORCH_CUDA_ALLOC_CONF");
      writer_->String(Printable(value));
    }
    writer_->EndDict();
  }

  void Number(const char* key, uint64_t value) {
    writer_->Key(key);
    writer_->Int(static_cast<int64_t>(value));
  }

  StackIndex StackOf(SiteIndex site) const {
    const Sites& sites = process_->ledger().sites();
    return sites.Has(site) ? sites[site].key.stack : kEmptyStack;
  }

  // Each stack is written once.
  void Frames(StackIndex stack) {
    writer_->Key("frames");
    if (const auto known = frames_.find(stack); known != frames_.end()) return writer_->Recall(known->second);
    PickleWriter::List list = writer_->BeginList();
    for (const ReportFrame& frame : process_->Frames(stack)) {
      writer_->Item(&list);
      writer_->BeginDict();
      writer_->Key("name");
      writer_->String(Printable(frame.function));
      writer_->Key("filename");
      writer_->String(frame.file.empty() ? "??" : Printable(frame.file));
      Number("line", frame.line);
      writer_->EndDict();
    }
    writer_->EndList();
    frames_[stack] = writer_->Remember();
  }

  const ExportOptions& options_;
  ExportSink sink_;
  ExportedProcess* process_ = nullptr;
  PickleWriter* writer_ = nullptr;
  absl::flat_hash_map<StackIndex, uint32_t> frames_;  // what the writer remembers them by
};

}  // namespace

std::unique_ptr<Exporter> MakeTorchSnapshot(const ExportOptions& options, ExportSink sink) {
  return std::make_unique<TorchSnapshot>(options, std::move(sink));
}

}  // namespace vramtrack
