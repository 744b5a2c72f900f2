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
  LevelCurves(uint64_t first_ticks, uint64_t last_ticks, size_t most_points);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override { Look(allocated.allocation.site); }
  void OnFree(const ReplayAllocation& freed) override { Look(freed.allocation.site); }
  void OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t /*bytes*/, bool /*born*/) override { Look(site); }

  // Returns the curves after the replay, by time. Neighbouring points differ.
  std::map<Key, std::vector<Point>> Finish();

  static const char* Name(Figure figure);

 private:
  struct Curve {
    std::vector<Point> points;
    uint64_t span = UINT64_MAX;  // the current span
    Point low{}, high{}, last{};
  };

  void Look(SiteIndex site);
  void Note(const Key& key, uint64_t bytes);
  static void Close(Curve* curve);

  const Ledger* ledger_ = nullptr;
  uint64_t first_, last_, span_ticks_;
  std::map<Key, Curve> curves_;
};

LevelCurves::LevelCurves(uint64_t first_ticks, uint64_t last_ticks, size_t most_points)
    : first_(first_ticks), last_(std::max(last_ticks, first_ticks)) {
  constexpr size_t kPointsOfSpan = 3;
  const size_t spans = std::max<size_t>(most_points / kPointsOfSpan, 1);
  span_ticks_ = (last_ - first_) / spans + 1;
}

const char* LevelCurves::Name(Figure figure) {
  constexpr const char* kNames[] = {"live", "reserved", "driver"};
  return kNames[figure];
}

void LevelCurves::Look(SiteIndex index) {
  const uint32_t scope_index = ledger_->sites()[index].scope;
  if (scope_index == Site::kNoScope) return;
  const Scope& scope = ledger_->scopes()[scope_index];
  Note({scope.device, scope.level == Level::kFramework ? kLive : kDriver}, scope.live);
  // With its first block memory of the driver becomes a segment.
  if (scope.segments != nullptr) Note({scope.device, kSegments}, scope.segments->counted());
}

void LevelCurves::Note(const Key& key, uint64_t bytes) {
  const uint64_t ticks = ledger_->last_ticks();
  Curve& curve = curves_[key];
  const Point now = {ticks, bytes};
  // What it is when the time of interest begins is its first point.
  const uint64_t span = ticks <= first_ ? 0 : (std::min(ticks, last_) - first_) / span_ticks_;
  if (ticks > last_) return;
  if (ticks < first_) {
    curve.points.assign(1, {first_, bytes});
    return;
  }
  if (span != curve.span) {
    Close(&curve);
    curve.span = span;
    curve.low = curve.high = now;
  }
  if (bytes < curve.low.bytes) curve.low = now;
  if (bytes > curve.high.bytes) curve.high = now;
  curve.last = now;
}

void LevelCurves::Close(Curve* curve) {
  if (curve->span == UINT64_MAX) return;
  Point points[] = {curve->low, curve->high, curve->last};
  std::stable_sort(std::begin(points), std::end(points),
                   [](const Point& a, const Point& b) { return a.ticks < b.ticks; });
  for (const Point& point : points) {
    if (curve->points.empty() || curve->points.back().bytes != point.bytes) curve->points.push_back(point);
  }
}

std::map<LevelCurves::Key, std::vector<LevelCurves::Point>> LevelCurves::Finish() {
  std::map<Key, std::vector<Point>> curves;
  for (auto& [key, curve] : curves_) {
    Close(&curve);
    curves[key] = std::move(curve.points);
  }
  return curves;
}

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
    process.Replay({&curves}, [](DeviceIndex) {});

    ++sequence_;
    const uint64_t parent = DescribeProcess(process);
    for (const auto& [key, points] : curves.Finish()) {
      const auto& [device, figure] = key;
      const std::string place = device == kHost ? "host" : absl::StrCat("cuda:", device.value());
      const uint64_t track = DescribeTrack(parent, absl::StrCat(place, " ", LevelCurves::Name(figure)), true);
      for (const LevelCurves::Point& point : points) {
        std::string event;
        Writer writer(event);
        writer.add_enum(kType, kCount);
        writer.add_uint64(kTrack, track);
        writer.add_int64(kCounterValue, static_cast<int64_t>(point.bytes));
        Emit(TimeOf(trace, point.ticks), event);
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
      std::string event;
      Writer writer(event);
      writer.add_enum(kType, kBegin);
      writer.add_uint64(kTrack, track);
      writer.add_string(kName, absl::StrCat("step ", number));
      Emit(TimeOf(process.trace(), begin), event);
      event.clear();
      writer.add_enum(kType, kEnd);
      writer.add_uint64(kTrack, track);
      Emit(TimeOf(process.trace(), ends[step]), event);
    }
  }

  void WriteFailures(const ExportedProcess& process, uint64_t parent, uint64_t first, uint64_t last) {
    uint64_t track = 0;
    for (const OutOfMemory& failed : process.failures()) {
      if (failed.ticks < first || failed.ticks > last) continue;
      if (track == 0) track = DescribeTrack(parent, "out of memory", false);
      std::string event;
      Writer writer(event);
      writer.add_enum(kType, kInstant);
      writer.add_uint64(kTrack, track);
      writer.add_string(kName, absl::StrCat("out of memory on cuda:", failed.device.value()));
      for (const auto& [name, value] : {std::pair<const char*, uint64_t>{"requested", failed.requested},
                                        {"live", failed.framework ? failed.framework->live : failed.usage.live}}) {
        std::string message;
        Writer annotation(message);
        annotation.add_string(kAnnotationName, name);
        annotation.add_uint64(kUint, value);
        writer.add_message(kAnnotation, message);
      }
      Emit(TimeOf(process.trace(), failed.ticks), event);
    }
  }

  uint64_t DescribeProcess(const ExportedProcess& process) {
    const TracedProcess& traced = process.trace().definitions().process;
    std::string process_message;
    Writer of_process(process_message);
    of_process.add_int32(kPid, static_cast<int32_t>(traced.pid));
    for (const std::string& word : traced.command) of_process.add_string(kCommand, Printable(word));
    of_process.add_string(kProcessName,
                          absl::StrCat(process.Name(), " ", Printable(absl::StrJoin(traced.command, " "))));
    std::string message;
    Writer track(message);
    track.add_uint64(kUuid, ++tracks_);
    track.add_message(kProcess, process_message);
    EmitPacket(kTrackDescriptor, message, std::nullopt, true);
    return tracks_;
  }

  uint64_t DescribeTrack(uint64_t parent, const std::string& name, bool is_counter) {
    std::string message;
    Writer track(message);
    track.add_uint64(kUuid, ++tracks_);
    track.add_uint64(kParent, parent);
    track.add_string(kTrackName, name);
    if (is_counter) {
      std::string counter_message;
      Writer(counter_message).add_enum(kUnit, kSizeBytes);
      track.add_message(kCounter, counter_message);
    }
    EmitPacket(kTrackDescriptor, message, std::nullopt, false);
    return tracks_;
  }

  void Emit(uint64_t ns, const std::string& event) { EmitPacket(kTrackEvent, event, ns, false); }

  void EmitPacket(uint32_t field, const std::string& message, std::optional<uint64_t> ns, bool first) {
    std::string packet;
    Writer writer(packet);
    if (ns) writer.add_uint64(kTimestamp, *ns);
    writer.add_uint32(kSequence, sequence_);
    if (first) writer.add_uint32(kSequenceFlags, kStateCleared);
    writer.add_message(field, message);
    std::string framed;
    Writer(framed).add_message(kPacket, packet);
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
