// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/exporter.h"

#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"
#include "analyzer/export/frame_names.h"
#include "analyzer/export/segment_snapshot.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

using Json = nlohmann::ordered_json;
using Action = DeviceSnapshot::Action;

// The tables of one thread: frames and the tree of stacks that is made from them.
class StackTables {
 public:
  // Index of the stack; null for one without frames.
  Json Stack(const std::vector<ReportFrame>& frames) {
    Json prefix = nullptr;
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      const size_t index = Frame(*frame);
      const int64_t before = prefix.is_null() ? -1 : prefix.get<int64_t>();
      const auto [found, is_new] = stacks_.try_emplace({before, index}, stacks_.size());
      if (is_new) {
        stack_frame_.push_back(index);
        stack_prefix_.push_back(prefix);
      }
      prefix = found->second;
    }
    return prefix;
  }

  void AddTo(Json* thread) {
    const size_t stacks = stack_frame_.size(), frames = frame_func_.size(), functions = func_name_.size();
    (*thread)["stackTable"] = {{"frame", std::move(stack_frame_)},
                               {"prefix", std::move(stack_prefix_)},
                               {"category", Json(stacks, 0)},
                               {"subcategory", Json(stacks, 0)},
                               {"length", stacks}};
    const auto nulls = [](size_t n) { return Json(n, nullptr); };
    (*thread)["frameTable"] = {{"address", Json(frames, -1)},
                               {"inlineDepth", Json(frames, 0)},
                               {"category", Json(frames, 0)},
                               {"subcategory", Json(frames, 0)},
                               {"func", std::move(frame_func_)},
                               {"nativeSymbol", nulls(frames)},
                               {"innerWindowID", Json(frames, 0)},
                               {"implementation", nulls(frames)},
                               {"line", std::move(frame_line_)},
                               {"column", nulls(frames)},
                               {"length", frames}};
    (*thread)["funcTable"] = {{"isJS", Json(functions, false)},    {"relevantForJS", Json(functions, false)},
                              {"name", std::move(func_name_)},     {"resource", Json(functions, -1)},
                              {"fileName", std::move(func_file_)}, {"lineNumber", nulls(functions)},
                              {"columnNumber", nulls(functions)},  {"length", functions}};
    (*thread)["stringArray"] = std::move(strings_);
    const Json none = Json::array();
    (*thread)["resourceTable"] = {{"lib", none}, {"name", none}, {"host", none}, {"type", none}, {"length", 0}};
    (*thread)["nativeSymbols"] = {
        {"libIndex", none}, {"address", none}, {"name", none}, {"functionSize", none}, {"length", 0}};
  }

 private:
  size_t String(const std::string& text) {
    const auto [found, is_new] = string_indices_.try_emplace(text, strings_.size());
    if (is_new) strings_.push_back(text);
    return found->second;
  }

  size_t Frame(const ReportFrame& frame) {
    const std::string file = Printable(FileOf(frame)), name = Printable(frame.function);
    const auto [function, is_new_function] = functions_.try_emplace({name, file}, functions_.size());
    if (is_new_function) {
      func_name_.push_back(String(name));
      func_file_.push_back(file.empty() ? Json(nullptr) : Json(String(file)));
    }
    const auto [found, is_new] = frames_.try_emplace({function->second, frame.line}, frames_.size());
    if (is_new) {
      frame_func_.push_back(function->second);
      frame_line_.push_back(frame.line == 0 ? Json(nullptr) : Json(frame.line));
    }
    return found->second;
  }

  std::map<std::string, size_t> string_indices_;
  std::map<std::pair<std::string, std::string>, size_t> functions_;
  std::map<std::pair<size_t, uint32_t>, size_t> frames_;
  std::map<std::pair<int64_t, size_t>, size_t> stacks_;
  Json strings_ = Json::array(), func_name_ = Json::array(), func_file_ = Json::array(), frame_func_ = Json::array(),
       frame_line_ = Json::array(), stack_frame_ = Json::array(), stack_prefix_ = Json::array();
};

class Firefox final : public Exporter {
 public:
  Firefox(const ExportOptions& options, ExportSink sink) : options_(options), sink_(std::move(sink)) {}

  absl::Status Add(ExportedProcess& process) override {
    SnapshotObserver observer(process.ledger(), process.failures(), process.StepSpan(), options_.max_events);
    process.Replay({&observer}, [&observer](DeviceIndex device) { observer.Take(device); });
    if (start_ms_ == 0) start_ms_ = static_cast<double>(process.trace().clock().start_realtime_ns()) / 1e6;
    for (const auto& [device, snapshot] : observer.Finish()) AddThread(process, device, snapshot);
    return absl::OkStatus();
  }

  void Finish() override {
    const Json none = Json::array();
    const Json profile = {{"meta",
                           {{"interval", 1},
                            {"startTime", start_ms_},
                            {"abi", ""},
                            {"misc", ""},
                            {"oscpu", ""},
                            {"platform", "Linux"},
                            {"processType", 0},
                            {"extensions", {{"id", none}, {"name", none}, {"baseURL", none}, {"length", 0}}},
                            {"categories", {{{"name", "Other"}, {"color", "grey"}, {"subcategories", {"Other"}}}}},
                            {"product", absl::StrCat("vramtrack ", kToolVersion)},
                            {"stackwalk", 1},
                            {"debug", false},
                            {"toolkit", ""},
                            {"version", 28},
                            {"preprocessedProfileVersion", 48},
                            {"appBuildID", ""},
                            {"markerSchema", none},
                            {"symbolicated", true}}},
                          {"libs", none},
                          {"pages", none},
                          {"counters", std::move(counters_)},
                          {"threads", std::move(threads_)}};
    sink_(profile.dump(-1, ' ', false, Json::error_handler_t::replace));
    sink_("\n");
  }

 private:
  void AddThread(ExportedProcess& process, DeviceIndex device, const DeviceSnapshot& snapshot) {
    StackTables tables;
    Json time = Json::array(), weight = Json::array(), stack = Json::array(), address = Json::array();
    std::map<StackIndex, Json> stacks;
    const TickClock& clock = process.trace().clock();
    for (const DeviceSnapshot::Event& event : snapshot.events) {
      // Of the driver's memory only what is no segment, or it would count twice.
      const bool born = event.action == Action::kAlloc || event.action == Action::kOtherAlloc;
      if (!born && event.action != Action::kFree && event.action != Action::kOtherFree) continue;
      const auto [known, is_new] = stacks.try_emplace(event.stack);
      if (is_new) known->second = tables.Stack(process.Frames(event.stack));
      const auto bytes = static_cast<int64_t>(event.bytes);
      time.push_back(static_cast<double>(clock.Ns(event.ticks)) / 1e6);
      weight.push_back(born ? bytes : -bytes);
      stack.push_back(known->second);
      address.push_back(event.address);
    }
    const size_t events = time.size();
    const std::string pid = absl::StrCat(process.trace().definitions().process.pid);
    counters_.push_back(
        {{"name", "malloc"},
         {"category", "Memory"},
         {"description", absl::StrCat("cuda:", device.value(), " live bytes")},
         {"pid", pid},
         {"mainThreadIndex", threads_.size()},
         {"samples", {{"time", time}, {"count", weight}, {"number", Json(events, 1)}, {"length", events}}}});
    const Json none = Json::array();
    Json thread = {{"processType", "default"},
                   {"processStartupTime", 0},
                   {"processShutdownTime", nullptr},
                   {"registerTime", 0},
                   {"unregisterTime", nullptr},
                   {"pausedRanges", none},
                   {"name", absl::StrCat("cuda:", device.value())},
                   {"isMainThread", true},
                   {"pid", pid},
                   {"tid", device.value() + 1},
                   {"processName", process.Name()}};
    // The viewer wants a sample; the last stack stands for it.
    const Json last = stack.empty() ? Json(nullptr) : stack.back();
    thread["samples"] = {{"weightType", "samples"},
                         {"weight", nullptr},
                         {"eventDelay", {0}},
                         {"stack", {last}},
                         {"time", {events == 0 ? Json(0) : time.back()}},
                         {"length", 1}};
    thread["nativeAllocations"] = {{"time", std::move(time)},
                                   {"weight", std::move(weight)},
                                   {"weightType", "bytes"},
                                   {"stack", std::move(stack)},
                                   {"memoryAddress", std::move(address)},
                                   {"threadId", Json(events, device.value() + 1)},
                                   {"length", events}};
    thread["markers"] = {{"data", none},  {"name", none},     {"startTime", none}, {"endTime", none},
                         {"phase", none}, {"category", none}, {"length", 0}};
    tables.AddTo(&thread);
    threads_.push_back(std::move(thread));
  }

  const ExportOptions& options_;
  ExportSink sink_;
  Json counters_ = Json::array(), threads_ = Json::array();
  double start_ms_ = 0;
};

}  // namespace

std::unique_ptr<Exporter> MakeFirefox(const ExportOptions& options, ExportSink sink) {
  return std::make_unique<Firefox>(options, std::move(sink));
}

}  // namespace vramtrack
