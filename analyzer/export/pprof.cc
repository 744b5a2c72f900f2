// SPDX-License-Identifier: Apache-2.0
//
// Field numbers are those of google/pprof's proto/profile.proto.
#include <map>
#include <protozero/pbf_writer.hpp>
#include <tuple>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/gzip.h"
#include "analyzer/export/exporter.h"
#include "analyzer/export/frame_names.h"

namespace vramtrack {
namespace {

enum ProfileField : uint32_t {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
};
enum ValueTypeField : uint32_t { kType = 1, kUnit = 2 };
enum SampleField : uint32_t { kLocationId = 1, kValue = 2, kLabel = 3 };
enum LabelField : uint32_t { kKey = 1, kStr = 2, kNum = 3 };
enum MappingField : uint32_t {
  kMappingId = 1,
  kStart = 2,
  kLimit = 3,
  kFilename = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFilenames = 8,
  kHasLineNumbers = 9,
  kHasInlineFrames = 10,
};
enum LocationField : uint32_t { kId = 1, kMappingOfLocation = 2, kAddress = 3, kLine = 4 };
enum LineField : uint32_t { kFunctionId = 1, kLineNumber = 2 };
enum FunctionField : uint32_t { kOfFunction = 1, kName = 2, kSystemName = 3, kFile = 4 };

constexpr const char* kValues[][2] = {
    {"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}};

using Writer = protozero::pbf_writer;

class Pprof final : public Exporter {
 public:
  Pprof(const ExportOptions& options, ExportSink sink) : options_(options), sink_(std::move(sink)) { Index(""); }

  absl::Status Add(ExportedProcess& process) override {
    const Trace& trace = process.trace();
    const TracedProcess& traced = trace.definitions().process;
    if (time_nanos_ == 0) {
      time_nanos_ = trace.clock().start_realtime_ns();
      comments_.push_back(Index(absl::StrJoin(traced.command, " ")));
    }
    duration_nanos_ = std::max<uint64_t>(duration_nanos_, trace.clock().Ns(process.ledger().last_ticks()));
    modules_.clear();
    for (const TracedModule& module : trace.definitions().modules.modules()) modules_[module.path] = &module;
    // pprof calls the first mapping the program.
    if (mappings_.empty()) MappingOf(traced.executable);
    for (const ExportedSite& site : process.sites()) AddSample(process, site);
    return absl::OkStatus();
  }

  void Finish() override {
    std::string profile;
    Writer writer(profile);
    for (const auto& [type, unit] : kValues) AddValueType(&writer, kSampleType, type, unit);
    profile += samples_ + mapping_messages_ + locations_ + functions_;
    writer.add_int64(kTimeNanos, static_cast<int64_t>(time_nanos_));
    writer.add_int64(kDurationNanos, static_cast<int64_t>(duration_nanos_));
    AddValueType(&writer, kPeriodType, "space", "bytes");
    writer.add_int64(kPeriod, 1);
    for (const int64_t comment : comments_) writer.add_int64(kComment, comment);
    writer.add_int64(kDefaultSampleType, Index(options_.value));
    for (const std::string* text : strings_) writer.add_string(kStringTable, *text);
    sink_(Gzip(profile));
  }

 private:
  int64_t Index(const std::string& text) {
    const auto [found, is_new] = string_indices_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(&found->first);
    return static_cast<int64_t>(found->second);
  }

  void AddValueType(Writer* writer, uint32_t field, const char* type, const char* unit) {
    Writer of_type(*writer, field);
    of_type.add_int64(kType, Index(type));
    of_type.add_int64(kUnit, Index(unit));
  }

  void AddSample(ExportedProcess& process, const ExportedSite& site) {
    const std::vector<uint64_t> locations = Locations(process.Frames(site.stack));
    Writer samples(samples_), sample(samples, kSample);
    sample.add_packed_uint64(kLocationId, locations.begin(), locations.end());
    const SiteCounts& counts = site.counts;
    const int64_t values[] = {static_cast<int64_t>(counts.alloc_objects), static_cast<int64_t>(counts.alloc_bytes),
                              static_cast<int64_t>(counts.inuse_objects), static_cast<int64_t>(counts.inuse_bytes)};
    sample.add_packed_int64(kValue, std::begin(values), std::end(values));
    const TracedProcess& traced = process.trace().definitions().process;
    for (const auto& [key, text] : std::initializer_list<std::pair<const char*, std::string>>{
             {"device", site.device},
             {"level", site.level},
             {"kind", site.kind},
             {"category", site.category},
             {"owner", site.owner},
             {"verdict", site.verdict},
             {"rank", traced.rank ? absl::StrCat(*traced.rank) : ""},
             {"pid", absl::StrCat(traced.pid)}}) {
      if (text.empty()) continue;
      Writer label(sample, kLabel);
      label.add_int64(kKey, Index(key));
      label.add_int64(kStr, Index(text));
    }
  }

  // One for each return address; what was inlined there is in its lines.
  std::vector<uint64_t> Locations(const std::vector<ReportFrame>& frames) {
    std::vector<uint64_t> ids;
    for (size_t i = 0; i < frames.size();) {
      size_t end = i + 1;
      while (end < frames.size() && frames[end - 1].inlined) ++end;
      ids.push_back(LocationOf(frames, i, end));
      i = end;
    }
    return ids;
  }

  uint64_t LocationOf(const std::vector<ReportFrame>& frames, size_t begin, size_t end) {
    std::vector<std::pair<uint64_t, uint32_t>> lines;
    for (size_t i = begin; i < end; ++i) lines.push_back({FunctionOf(frames[i]), frames[i].line});
    const ReportFrame& frame = frames[end - 1];
    const uint64_t mapping = frame.module.empty() ? 0 : MappingOf(frame.module);
    const auto [found, is_new] = location_ids_.try_emplace({mapping, frame.offset, lines}, location_ids_.size() + 1);
    if (!is_new) return found->second;
    Writer locations(locations_), location(locations, kLocation);
    location.add_uint64(kId, found->second);
    if (mapping != 0) {
      location.add_uint64(kMappingOfLocation, mapping);
      location.add_uint64(kAddress, mappings_.at(frame.module).load_bias + frame.offset);
    }
    for (const auto& [function, line] : lines) {
      Writer of_line(location, kLine);
      of_line.add_uint64(kFunctionId, function);
      of_line.add_int64(kLineNumber, line);
    }
    return found->second;
  }

  uint64_t FunctionOf(const ReportFrame& frame) {
    const std::string& file = FileOf(frame);
    const auto [found, is_new] = function_ids_.try_emplace({frame.function, file}, function_ids_.size() + 1);
    if (!is_new) return found->second;
    Writer functions(functions_), function(functions, kFunction);
    function.add_uint64(kOfFunction, found->second);
    function.add_int64(kName, Index(frame.function));
    function.add_int64(kSystemName, Index(frame.function));
    function.add_int64(kFile, Index(file));
    return found->second;
  }

  uint64_t MappingOf(const std::string& path) {
    const auto [found, is_new] = mappings_.try_emplace(path);
    if (!is_new) return found->second.id;
    Mapping& mapping = found->second;
    mapping.id = mappings_.size();
    Writer mappings(mapping_messages_), writer(mappings, kMapping);
    writer.add_uint64(kMappingId, mapping.id);
    const auto module = modules_.find(path);
    if (module != modules_.end()) {
      const TracedModule& traced = *module->second;
      mapping.load_bias = traced.load_bias;
      if (!traced.ranges.empty()) {
        writer.add_uint64(kStart, traced.ranges.front().first);
        writer.add_uint64(kLimit, traced.ranges.back().second);
      }
      writer.add_int64(kBuildId, Index(absl::BytesToHexString(traced.build_id)));
    }
    writer.add_int64(kFilename, Index(path));
    // Symbols are in: nothing is to be looked up again.
    for (const uint32_t has : {kHasFunctions, kHasFilenames, kHasLineNumbers, kHasInlineFrames}) {
      writer.add_bool(has, true);
    }
    return mapping.id;
  }

  struct Mapping {
    uint64_t id = 0, load_bias = 0;
  };
  using Lines = std::vector<std::pair<uint64_t, uint32_t>>;

  const ExportOptions& options_;
  ExportSink sink_;
  std::map<std::string, size_t> string_indices_;
  std::vector<const std::string*> strings_;             // keys of it
  std::map<std::string, const TracedModule*> modules_;  // of the present process
  std::map<std::string, Mapping> mappings_;
  std::map<std::tuple<uint64_t, uint64_t, Lines>, uint64_t> location_ids_;
  std::map<std::pair<std::string, std::string>, uint64_t> function_ids_;
  std::string samples_, mapping_messages_, locations_, functions_;
  std::vector<int64_t> comments_;
  uint64_t time_nanos_ = 0, duration_nanos_ = 0;
};

}  // namespace

std::unique_ptr<Exporter> MakePprof(const ExportOptions& options, ExportSink sink) {
  return std::make_unique<Pprof>(options, std::move(sink));
}

}  // namespace vramtrack
