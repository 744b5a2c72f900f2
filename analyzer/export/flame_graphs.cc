// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/export/exporter.h"
#include "analyzer/export/frame_names.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

// A semicolon ends a frame.
std::string Part(std::string name) {
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

class Folded final : public Exporter {
 public:
  Folded(const ExportOptions& options, ExportSink sink) : options_(options), sink_(std::move(sink)) {}

  absl::Status Add(ExportedProcess& process) override {
    return options_.modules ? AddModules(process) : AddCalls(process);
  }

 private:
  absl::Status AddCalls(ExportedProcess& process) {
    for (const ExportedSite& site : process.sites()) {
      const uint64_t value = ValueOf(site.counts, options_.value);
      if (value == 0) continue;
      std::string line = absl::StrCat(process.Name(), ";", site.device, ";", site.category);
      const std::vector<ReportFrame> frames = process.Frames(site.stack);
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
        absl::StrAppend(&line, ";", Part(FrameLabel(*frame)));
      }
      absl::StrAppend(&line, " ", value, "\n");
      if (!sink_(line)) break;
    }
    return absl::OkStatus();
  }

  absl::Status AddModules(ExportedProcess& process) {
    const absl::StatusOr<std::vector<ModuleStack>> stacks = ModuleStacks(process);
    if (!stacks.ok()) return stacks.status();
    for (const ModuleStack& stack : *stacks) {
      std::string line = absl::StrCat(process.Name(), ";", stack.device);
      for (const std::string& frame : stack.frames) absl::StrAppend(&line, ";", Part(frame));
      if (!sink_(absl::StrCat(line, " ", stack.value, "\n"))) break;
    }
    return absl::OkStatus();
  }

  const ExportOptions& options_;
  ExportSink sink_;
};

}  // namespace

std::unique_ptr<Exporter> MakeFolded(const ExportOptions& options, ExportSink sink) {
  return std::make_unique<Folded>(options, std::move(sink));
}

namespace {

using Json = nlohmann::ordered_json;

class Speedscope final : public Exporter {
 public:
  Speedscope(const ExportOptions& options, ExportSink sink) : options_(options), sink_(std::move(sink)) {}

  absl::Status Add(ExportedProcess& process) override {
    std::map<std::string, Profile> by_device;
    if (options_.modules) {
      const absl::StatusOr<std::vector<ModuleStack>> stacks = ModuleStacks(process);
      if (!stacks.ok()) return stacks.status();
      for (const ModuleStack& stack : *stacks) AddModule(stack, &by_device[stack.device]);
    } else {
      AddCalls(process, &by_device);
    }
    const bool bytes = options_.value.find("space") != std::string::npos;
    for (auto& [device, profile] : by_device) {
      profiles_.push_back(Json{{"type", "sampled"},
                               {"name", absl::StrCat(process.Name(), " ", device, " ", options_.value)},
                               {"unit", bytes ? "bytes" : "none"},
                               {"startValue", 0},
                               {"endValue", profile.sum},
                               {"samples", std::move(profile.samples)},
                               {"weights", std::move(profile.weights)}});
    }
    return absl::OkStatus();
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

  void AddCalls(ExportedProcess& process, std::map<std::string, Profile>* by_device) {
    for (const ExportedSite& site : process.sites()) {
      const uint64_t value = ValueOf(site.counts, options_.value);
      if (value == 0) continue;
      Json sample = Json::array();
      const std::vector<ReportFrame> frames = process.Frames(site.stack);
      for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) sample.push_back(FrameIndex(*frame));
      Profile& profile = (*by_device)[site.device];
      profile.samples.push_back(std::move(sample));
      profile.weights.push_back(value);
      profile.sum += value;
    }
  }

  void AddModule(const ModuleStack& stack, Profile* profile) {
    Json sample = Json::array();
    for (const std::string& name : stack.frames) {
      ReportFrame frame;
      frame.function = name;
      sample.push_back(FrameIndex(frame));
    }
    profile->samples.push_back(std::move(sample));
    profile->weights.push_back(stack.value);
    profile->sum += stack.value;
  }

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

  const ExportOptions& options_;
  ExportSink sink_;
  std::map<std::tuple<std::string, std::string, uint32_t>, size_t> indices_;
  Json frames_ = Json::array(), profiles_ = Json::array();
};

}  // namespace

std::unique_ptr<Exporter> MakeSpeedscope(const ExportOptions& options, ExportSink sink) {
  return std::make_unique<Speedscope>(options, std::move(sink));
}

}  // namespace vramtrack
