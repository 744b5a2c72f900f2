// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analyzer/export/exporter.h"
#include "analyzer/export/frame_names.h"

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

}  // namespace vramtrack
