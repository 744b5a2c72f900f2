// SPDX-License-Identifier: Apache-2.0
//
// The opcodes are those of CPython's Lib/pickletools.py.
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/export/exporter.h"
#include "analyzer/export/segment_snapshot.h"
#include "analyzer/findings/core/device_findings.h"

namespace vramtrack {
namespace {

// Writes Python's pickle format, protocol 2, with only the types that PyTorch's viewers read: dictionaries, lists,
// pairs, strings, integers, booleans. Streams its output and keeps only the strings, so that each is written once.
// Thread-compatible.
class PickleWriter {
 public:
  explicit PickleWriter(ExportSink sink) : sink_(std::move(sink)) { Put("\x80\x02"); }

  void BeginDict() { Put("}("); }
  void EndDict() { Put("u"); }
  // A list whose items follow. Call Item() before each item, because readers need long lists in batches.
  void BeginList() {
    Put("](");
    items_.push_back(0);
  }
  void Item() {
    size_t& items = items_.back();
    if (items != 0 && items % kMostItemsAtOnce == 0) Put("e(");
    ++items;
  }
  void EndList() {
    Put("e");
    items_.pop_back();
  }

  // Store and load a whole value in the memo by a number, for values that occur again.
  uint32_t Remember() {
    PutNumbered('q', 'r', memo_);
    return memo_++;
  }
  void Recall(uint32_t number) { PutNumbered('h', 'j', number); }

  void String(std::string_view text) {
    const auto found = strings_.find(std::string(text));
    if (found != strings_.end()) return Recall(found->second);
    Put("X" + LittleEndian(text.size(), 4));
    Put(text);
    strings_.emplace(text, Remember());
  }
  void Int(int64_t value) {
    if (value >= 0 && value < 256) {
      Put("K" + LittleEndian(static_cast<uint64_t>(value), 1));
    } else if (value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max()) {
      Put("J" + LittleEndian(static_cast<uint64_t>(value), 4));
    } else {
      Put("\x8a\x08" + LittleEndian(static_cast<uint64_t>(value), 8));
    }
  }
  void Bool(bool value) { Put(value ? "\x88" : "\x89"); }
  // A pair whose two values follow.
  void EndPair() { Put("\x86"); }

  void End() {
    Put(".");
    sink_(buffer_);
    buffer_.clear();
  }

 private:
  static constexpr size_t kBufferBytes = 1 << 16, kMostItemsAtOnce = 1000;

  static std::string LittleEndian(uint64_t value, size_t bytes) {
    std::string text;
    for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  }
  void PutNumbered(char short_code, char long_code, uint32_t number) {
    const bool is_short = number < 256;
    Put((is_short ? short_code : long_code) + LittleEndian(number, is_short ? 1 : 4));
  }
  void Put(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() < kBufferBytes) return;
    sink_(buffer_);
    buffer_.clear();
  }

  ExportSink sink_;
  std::string buffer_;
  std::unordered_map<std::string, uint32_t> strings_;
  uint32_t memo_ = 0;
  std::vector<size_t> items_;  // of the open lists so far
};

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
    const std::map<DeviceIndex, DeviceSnapshot> snapshots = TakeSnapshots(process);
    PickleWriter writer(sink_);
    writer_ = &writer;
    writer.BeginDict();
    WriteSegments(snapshots);
    WriteTraces(snapshots);
    WriteSettings();
    writer.String("external_annotations");
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
    writer_->String("segments");
    writer_->BeginList();
    for (const auto& [device, snapshot] : snapshots) {
      for (const DeviceSnapshot::Segment& segment : snapshot.segments) {
        if (!IsWanted(segment)) continue;
        writer_->Item();
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
    Text("segment_type", segment.small ? "small" : "large");
    writer_->String("segment_pool_id");
    writer_->Int(0);
    writer_->Int(0);
    writer_->EndPair();
    writer_->String("is_expandable");
    writer_->Bool(segment.expandable);
    Frames(StackOf(segment.site));
    writer_->String("blocks");
    writer_->BeginList();
    uint64_t at = segment.address;
    const uint64_t end = segment.address + segment.bytes;
    for (const DeviceSnapshot::Block& block : segment.blocks) {
      const uint64_t bytes = std::min(block.bytes, end - block.address);
      if (block.address < at) continue;
      if (block.address > at) WriteBlock(at, block.address - at, "inactive", kEmptyStack);
      WriteBlock(block.address, bytes, "active_allocated", StackOf(block.site));
      at = block.address + bytes;
    }
    if (at < end) WriteBlock(at, end - at, "inactive", kEmptyStack);
    writer_->EndList();
    writer_->EndDict();
  }

  void WriteBlock(uint64_t address, uint64_t bytes, const char* state, StackIndex stack) {
    writer_->Item();
    writer_->BeginDict();
    Number("address", address);
    Number("size", bytes);
    Number("requested_size", bytes);
    Text("state", state);
    Frames(stack);
    writer_->EndDict();
  }

  void WriteTraces(const std::map<DeviceIndex, DeviceSnapshot>& snapshots) {
    writer_->String("device_traces");
    writer_->BeginList();
    const uint32_t count = snapshots.empty() ? 0 : snapshots.rbegin()->first.value() + 1;
    for (uint32_t device = 0; device < count; ++device) {
      writer_->Item();
      writer_->BeginList();
      const auto found = snapshots.find(DeviceIndex(device));
      if (found != snapshots.end()) {
        for (const DeviceSnapshot::Event& event : found->second.events) WriteEvent(event);
      }
      writer_->EndList();
    }
    writer_->EndList();
  }

  void WriteEvent(const DeviceSnapshot::Event& event) {
    const bool other = event.action == Action::kOtherAlloc || event.action == Action::kOtherFree;
    if (other && options_.levels == ExportOptions::Levels::kFramework) return;
    const TickClock& clock = process_->trace().clock();
    for (const char* name : kNames[static_cast<size_t>(event.action)]) {
      if (name == nullptr) break;
      writer_->Item();
      writer_->BeginDict();
      Text("action", name);
      if (event.action == Action::kOom) {
        const OutOfMemory& failed = process_->failures()[event.address];
        Number("device_free", DeviceFreeBytes(process_->ledger(), failed).value_or(0));
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
    writer_->String("allocator_settings");
    writer_->BeginDict();
    for (const auto& [name, value] : process_->trace().definitions().process.environment) {
      if (name != "PYTORCH_CUDA_ALLOC_CONF" && name != "PYTORCH_ALLOC_CONF") continue;
      Text("PYTORCH_CUDA_ALLOC_CONF", Printable(value));
    }
    writer_->EndDict();
  }

  void Number(const char* key, uint64_t value) {
    writer_->String(key);
    writer_->Int(static_cast<int64_t>(value));
  }
  void Text(const char* key, std::string_view text) {
    writer_->String(key);
    writer_->String(text);
  }

  StackIndex StackOf(SiteIndex site) const {
    const Sites& sites = process_->ledger().sites();
    return sites.Has(site) ? sites[site].key.stack : kEmptyStack;
  }

  // Each stack is written once.
  void Frames(StackIndex stack) {
    writer_->String("frames");
    if (const auto known = frames_.find(stack); known != frames_.end()) return writer_->Recall(known->second);
    writer_->BeginList();
    for (const ReportFrame& frame : process_->Frames(stack)) {
      writer_->Item();
      writer_->BeginDict();
      Text("name", Printable(frame.function));
      Text("filename", frame.file.empty() ? "??" : Printable(frame.file));
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
