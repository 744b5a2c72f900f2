// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/indices.h"
#include "analyzer/export/exporter.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {
namespace {

// Curves of the memory of each device and the host over time, with a bounded number of points. If there are more
// changes than points, keeps the minimum and the maximum of each short span of time, at their exact times.
// Thread-compatible.
class LevelCurves final : public ReplayObserver {
 public:
  struct Point {
    uint64_t ticks, bytes;
  };
  enum Figure : uint32_t { kLive, kSegments, kDriver };
  // The device or host, and the figure: a framework's blocks, its segments, or the driver's memory.
  using Key = std::pair<DeviceIndex, Figure>;

  // Records from `first_ticks` to `last_ticks`, at most about `most_points` for each curve.
  LevelCurves(uint64_t first_ticks, uint64_t last_ticks, size_t most_points)
      : first_(first_ticks), last_(std::max(last_ticks, first_ticks)) {
    constexpr size_t kPointsOfSpan = 3;
    const size_t spans = std::max<size_t>(most_points / kPointsOfSpan, 1);
    span_ticks_ = (last_ - first_) / spans + 1;
  }

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override { Look(allocated.scope); }
  void OnFree(const ReplayAllocation& freed) override { Look(freed.scope); }

  // Returns the curves after the replay, by time. Neighbouring points differ.
  std::map<Key, std::vector<Point>> Finish() {
    std::map<Key, std::vector<Point>> curves;
    for (auto& [key, curve] : curves_) {
      Close(&curve);
      curves[key] = std::move(curve.points);
    }
    return curves;
  }

  static const char* Name(Figure figure) {
    constexpr const char* kNames[] = {"live", "reserved", "driver"};
    return kNames[figure];
  }

 private:
  struct Curve {
    std::vector<Point> points;
    uint64_t span = UINT64_MAX;  // the current span
    Point low{}, high{}, last{};
  };

  // `scope` is null if nothing was counted.
  void Look(const Scope* scope) {
    if (scope == nullptr) return;
    Note({scope->device, scope->level == Level::kFramework ? kLive : kDriver}, scope->live);
    // With its first block memory of the driver becomes a segment.
    if (scope->segments != nullptr) Note({scope->device, kSegments}, scope->segments->counted());
  }

  void Note(const Key& key, uint64_t bytes) {
    Curve& curve = curves_[key];
    const Point now = {ledger_->last_ticks(), bytes};
    if (now.ticks > last_) return;
    // What it is when the time of interest begins is its first point.
    if (now.ticks < first_) {
      curve.points.assign(1, {first_, bytes});
      return;
    }
    const uint64_t span = (now.ticks - first_) / span_ticks_;
    if (span != curve.span) {
      Close(&curve);
      curve.span = span;
      curve.low = curve.high = now;
    }
    if (bytes < curve.low.bytes) curve.low = now;
    if (bytes > curve.high.bytes) curve.high = now;
    curve.last = now;
  }

  static void Close(Curve* curve) {
    if (curve->span == UINT64_MAX) return;
    Point points[] = {curve->low, curve->high, curve->last};
    std::stable_sort(std::begin(points), std::end(points),
                     [](const Point& a, const Point& b) { return a.ticks < b.ticks; });
    for (const Point& point : points) {
      if (curve->points.empty() || curve->points.back().bytes != point.bytes) curve->points.push_back(point);
    }
  }

  const Ledger* ledger_ = nullptr;
  uint64_t first_, last_, span_ticks_;
  std::map<Key, Curve> curves_;
};

using Writer = protozero::pbf_writer;

// Of trace_packet.proto, track_descriptor.proto, process_descriptor.proto, counter_descriptor.proto, track_event.proto
// and debug_annotation.proto.
enum TraceField : uint32_t { kPacket = 1 };
enum PacketField : uint32_t {
  kTimestamp = 8,
  kSequence = 10,
  kTrackEvent = 11,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
enum TrackField : uint32_t { kUuid = 1, kTrackName = 2, kProcess = 3, kParent = 5, kCounter = 8 };
enum ProcessField : uint32_t { kPid = 1, kCommand = 2, kProcessName = 6 };
enum CounterField : uint32_t { kUnit = 3 };
enum EventField : uint32_t { kAnnotation = 4, kType = 9, kTrack = 11, kName = 23, kCounterValue = 30 };
enum AnnotationField : uint32_t { kUint = 3, kAnnotationName = 10 };

constexpr int kSizeBytes = 3;
constexpr int kStateCleared = 1;
enum EventType : int { kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4 };

class Perfetto final : public Exporter {
 public:
  Perfetto(const ExportOptions& options, ExportSink sink) : options_(options), sink_(std::move(sink)) {}

  absl::Status Add(ExportedProcess& process) override {
    const Trace& trace = process.trace();
    const Ledger& ledger = process.ledger();
    const std::vector<uint64_t>& ends = ledger.step_ends();
    const uint64_t start = trace.clock().start_ticks();
    uint64_t first = start, last = ledger.last_ticks();
    if (process.StepSpan()) {
      const auto [from, to] = *process.StepSpan();
      if (from > 0) first = ends[from - 1];
      last = ends[to];
    }
    LevelCurves curves(first, last, options_.max_events);
    process.Replay({&curves});

    ++sequence_;
    const uint64_t parent = DescribeProcess(process);
    for (const auto& [key, points] : curves.Finish()) {
      const auto& [device, figure] = key;
      const std::string name = absl::StrCat(DeviceText(device), " ", LevelCurves::Name(figure));
      const uint64_t track = DescribeTrack(parent, name, true);
      for (const LevelCurves::Point& point : points) {
        Emit(TimeOf(trace, point.ticks), kCount, track,
             [bytes = point.bytes](Writer& event) { event.add_int64(kCounterValue, static_cast<int64_t>(bytes)); });
      }
    }
    if (!ledger.steps().plan().has_windows()) WriteSteps(process, parent, first, last);
    WriteFailures(process, parent, first, last);
    return absl::OkStatus();
  }

 private:
  static uint64_t TimeOf(const Trace& trace, uint64_t ticks) {
    return trace.clock().start_realtime_ns() + trace.clock().Ns(ticks);
  }

  void WriteSteps(const ExportedProcess& process, uint64_t parent, uint64_t first, uint64_t last) {
    const Ledger& ledger = process.ledger();
    const std::vector<uint64_t>& ends = ledger.step_ends();
    if (ends.empty()) return;
    const uint64_t track = DescribeTrack(parent, "steps", false);
    uint64_t begin = process.trace().clock().start_ticks();
    for (size_t step = 0; step < ends.size(); begin = ends[step++]) {
      if (begin < first || ends[step] > last) continue;
      const std::vector<uint64_t>& numbers = ledger.steps().numbers();
      const uint64_t number = step < numbers.size() ? numbers[step] : step;
      Emit(TimeOf(process.trace(), begin), kBegin, track,
           [number](Writer& event) { event.add_string(kName, absl::StrCat("step ", number)); });
      Emit(TimeOf(process.trace(), ends[step]), kEnd, track, [](Writer&) {});
    }
  }

  void WriteFailures(const ExportedProcess& process, uint64_t parent, uint64_t first, uint64_t last) {
    uint64_t track = 0;
    for (const OutOfMemory& failed : process.failures()) {
      if (failed.ticks < first || failed.ticks > last) continue;
      if (track == 0) track = DescribeTrack(parent, "out of memory", false);
      Emit(TimeOf(process.trace(), failed.ticks), kInstant, track, [&failed](Writer& event) {
        event.add_string(kName, absl::StrCat("out of memory on ", DeviceText(failed.device)));
        Annotate("requested", failed.requested, &event);
        Annotate("live", failed.framework ? failed.framework->live : failed.usage.live, &event);
      });
    }
  }

  static void Annotate(const char* name, uint64_t value, Writer* event) {
    Writer annotation(*event, kAnnotation);
    annotation.add_string(kAnnotationName, name);
    annotation.add_uint64(kUint, value);
  }

  uint64_t DescribeProcess(const ExportedProcess& process) {
    const TracedProcess& traced = process.trace().definitions().process;
    EmitPacket(kTrackDescriptor, std::nullopt, true, [&](Writer& track) {
      track.add_uint64(kUuid, ++tracks_);
      Writer of_process(track, kProcess);
      of_process.add_int32(kPid, static_cast<int32_t>(traced.pid));
      for (const std::string& word : traced.command) of_process.add_string(kCommand, Printable(word));
      const std::string command = Printable(absl::StrJoin(traced.command, " "));
      of_process.add_string(kProcessName, absl::StrCat(process.Name(), " ", command));
    });
    return tracks_;
  }

  uint64_t DescribeTrack(uint64_t parent, const std::string& name, bool is_counter) {
    EmitPacket(kTrackDescriptor, std::nullopt, false, [&](Writer& track) {
      track.add_uint64(kUuid, ++tracks_);
      track.add_uint64(kParent, parent);
      track.add_string(kTrackName, name);
      if (is_counter) Writer(track, kCounter).add_enum(kUnit, kSizeBytes);
    });
    return tracks_;
  }

  // Calls write(Writer&) for the other fields of the event.
  template <class Write>
  void Emit(uint64_t ns, EventType type, uint64_t track, Write write) {
    EmitPacket(kTrackEvent, ns, false, [&](Writer& event) {
      event.add_enum(kType, type);
      event.add_uint64(kTrack, track);
      write(event);
    });
  }

  // Calls write(Writer&) for the message that the packet has as `field`.
  template <class Write>
  void EmitPacket(PacketField field, std::optional<uint64_t> ns, bool first, Write write) {
    std::string framed;
    {
      Writer file(framed), packet(file, kPacket);
      if (ns) packet.add_uint64(kTimestamp, *ns);
      packet.add_uint32(kSequence, sequence_);
      if (first) packet.add_uint32(kSequenceFlags, kStateCleared);
      Writer message(packet, field);
      write(message);
    }
    sink_(framed);
  }

  const ExportOptions& options_;
  ExportSink sink_;
  uint64_t tracks_ = 0;    // each has its own number, in all processes
  uint32_t sequence_ = 0;  // one a process
};

}  // namespace

std::unique_ptr<Exporter> MakePerfetto(const ExportOptions& options, ExportSink sink) {
  return std::make_unique<Perfetto>(options, std::move(sink));
}

}  // namespace vramtrack
