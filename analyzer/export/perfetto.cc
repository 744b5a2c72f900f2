// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/exporter.h"

#include <protozero/pbf_writer.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/export/level_curves.h"

namespace vramtrack {
namespace {

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
