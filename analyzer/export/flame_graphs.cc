// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/export/exporter.h"
#include "analyzer/export/frame_names.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

struct FlameStack {
  std::string device;               // of modules: "cuda:0 at step 48, walk 2"
  std::string category;             // empty for modules
  std::vector<ReportFrame> frames;  // outermost first; of modules the last one is the category or what holds the blocks
  uint64_t value = 0;
};

using TakeStack = std::function<bool(const FlameStack& stack)>;  // false: no more are wanted

void ForEachCallStack(ExportedProcess& process, const TakeStack& take) {
  for (const ExportedSite& site : process.sites()) {
    const uint64_t value = ValueOf(site.counts, process.options().value);
    if (value == 0) continue;
    FlameStack stack = {site.device, site.category, process.Frames(site.stack), value};
    std::reverse(stack.frames.begin(), stack.frames.end());
    if (!take(stack)) return;
  }
}

std::vector<std::string> FramesOf(const ReportModuleMemory::Part& part) {
  const std::string category = absl::StrReplaceAll(part.category, {{"_", " "}});
  if (part.source != CategorySource::kWalk) return {"not found by the walk", category};
  std::vector<std::string> frames = part.module;
  if (frames.empty()) frames = {"in no module", category};
  if (!part.name.empty()) {
    frames.push_back(part.name);
  } else if (!part.module.empty()) {
    frames.push_back(category);
  }
  return frames;
}

FlameStack ModuleStack(const std::string& device, const std::vector<std::string>& names, uint64_t value) {
  FlameStack stack = {device, "", {}, value};
  for (const std::string& name : names) stack.frames.emplace_back().function = name;
  return stack;
}

// The live memory of each device by module, at its walk nearest to the peak.
absl::Status ForEachModule(ExportedProcess& process, const TakeStack& take) {
  const bool bytes = process.options().value == "inuse_space";
  bool known = false;
  for (const ReportDevice& device : process.summary().findings.devices) {
    if (!device.module_memory) continue;
    const ReportModuleMemory& memory = *device.module_memory;
    const std::string when = memory.step ? absl::StrCat("step ", *memory.step) : FormatSeconds(memory.seconds);
    const std::string name = absl::StrCat("cuda:", device.index, " at ", when, ", walk ", memory.walk);
    const uint64_t others = bytes ? memory.other_bytes : 0;
    known = known || !memory.parts.empty() || others > 0;
    for (const ReportModuleMemory::Part& part : memory.parts) {
      if (!take(ModuleStack(name, FramesOf(part), bytes ? part.bytes : part.objects))) return absl::OkStatus();
    }
    if (others > 0) take(ModuleStack(name, {absl::StrCat(memory.other_parts, " smaller parts")}, others));
  }
  if (known) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(process.trace().path(), ": no walk knows its modules (record with 'vramtrack run --holders')"));
}

// The error is one line: no walk of the trace saw a device.
absl::Status ForEachStack(ExportedProcess& process, const TakeStack& take) {
  if (process.options().modules) return ForEachModule(process, take);
  ForEachCallStack(process, take);
  return absl::OkStatus();
}

// A label such as "forward (model.py:31)". A semicolon would end the frame.
std::string FoldedFrame(const ReportFrame& frame) {
  std::string label = Printable(frame.function);
  if (!frame.file.empty()) absl::StrAppend(&label, " (", Printable(FileOf(frame)), ":", frame.line, ")");
  std::replace(label.begin(), label.end(), ';', ':');
  return label;
}

class Folded final : public Exporter {
 public:
  explicit Folded(ExportSink sink) : sink_(std::move(sink)) {}

  absl::Status Add(ExportedProcess& process) override {
    return ForEachStack(process, [this, &process](const FlameStack& stack) {
      std::string line = absl::StrCat(process.Name(), ";", stack.device);
      if (!stack.category.empty()) absl::StrAppend(&line, ";", stack.category);
      for (const ReportFrame& frame : stack.frames) absl::StrAppend(&line, ";", FoldedFrame(frame));
      return sink_(absl::StrCat(line, " ", stack.value, "\n"));
    });
  }

 private:
  ExportSink sink_;
};

using Json = nlohmann::ordered_json;

class Speedscope final : public Exporter {
 public:
  explicit Speedscope(ExportSink sink) : sink_(std::move(sink)) {}

  absl::Status Add(ExportedProcess& process) override {
    std::map<std::string, Profile> by_device;
    absl::Status status = ForEachStack(process, [this, &by_device](const FlameStack& stack) {
      Json sample = Json::array();
      for (const ReportFrame& frame : stack.frames) sample.push_back(FrameIndex(frame));
      Profile& profile = by_device[stack.device];
      profile.samples.push_back(std::move(sample));
      profile.weights.push_back(stack.value);
      profile.sum += stack.value;
      return true;
    });
    const std::string& value = process.options().value;
    for (auto& [device, profile] : by_device) {
      profiles_.push_back(Json{{"type", "sampled"},
                               {"name", absl::StrCat(process.Name(), " ", device, " ", value)},
                               {"unit", value.find("space") != std::string::npos ? "bytes" : "none"},
                               {"startValue", 0},
                               {"endValue", profile.sum},
                               {"samples", std::move(profile.samples)},
                               {"weights", std::move(profile.weights)}});
    }
    return status;
  }

  void Finish() override {
    const Json file = {{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                       {"exporter", absl::StrCat("vramtrack@", kToolVersion)},
                       {"name", "CUDA memory"},
                       {"activeProfileIndex", 0},
                       {"shared", {{"frames", std::move(frames_)}}},
                       {"profiles", std::move(profiles_)}};
    sink_(file.dump(-1, ' ', false, Json::error_handler_t::replace));
    sink_("\n");
  }

 private:
  struct Profile {
    Json samples = Json::array(), weights = Json::array();
    uint64_t sum = 0;
  };

  size_t FrameIndex(const ReportFrame& frame) {
    const auto [found, is_new] = indices_.try_emplace({frame.function, FileOf(frame), frame.line}, frames_.size());
    if (is_new) {
      Json entry = {{"name", Printable(frame.function)}};
      if (!frame.file.empty()) entry["file"] = Printable(FileOf(frame));
      if (frame.line != 0) entry["line"] = frame.line;
      frames_.push_back(std::move(entry));
    }
    return found->second;
  }

  ExportSink sink_;
  std::map<std::tuple<std::string, std::string, uint32_t>, size_t> indices_;
  Json frames_ = Json::array(), profiles_ = Json::array();
};

}  // namespace

std::unique_ptr<Exporter> MakeFolded(const ExportOptions& /*options*/, ExportSink sink) {
  return std::make_unique<Folded>(std::move(sink));
}

std::unique_ptr<Exporter> MakeSpeedscope(const ExportOptions& /*options*/, ExportSink sink) {
  return std::make_unique<Speedscope>(std::move(sink));
}

}  // namespace vramtrack
