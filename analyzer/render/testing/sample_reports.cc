// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/testing/sample_reports.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/model/oom_lines.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = 1 << 30;
constexpr uint64_t kWeights = 360 * kMiB;
constexpr uint64_t kActivations = 96 * kMiB;

ReportFrame Frame(const char* function, const char* file, uint32_t line) {
  ReportFrame frame;
  frame.function = function;
  frame.file = file;
  frame.line = line;
  frame.module = "/opt/job/bin/train";
  frame.language = Language::kCpp;
  frame.offset = 0x4000 + line;
  return frame;
}

std::vector<ReportFrame> StackOf(ReportFrame innermost) {
  ReportFrame runtime;
  runtime.function = "cudaMalloc";
  runtime.module = "/usr/lib/libcudart.so.12";
  runtime.offset = 0x4c2a0;
  runtime.language = Language::kUnknown;
  return {
      runtime,
      Frame("vramtrack::testdata::DeviceBuffer<float>::DeviceBuffer(unsigned long)", "testdata/device_buffer.h", 31),
      std::move(innermost),
      Frame("vramtrack::testdata::Block::Forward(float const*, int)", "testdata/transformer/block.cu", 54),
      Frame("vramtrack::testdata::Model::Step(vramtrack::testdata::Batch const&)", "testdata/transformer/model.cu",
            120),
      Frame("main", "testdata/transformer/train.cu", 212),
  };
}

ReportSite Site(const char* id, ReportFrame innermost, uint64_t bytes_at_peak, uint64_t peak) {
  ReportSite site;
  site.id = id;
  site.level = Level::kDriver;
  site.kind = "device";
  site.device = 0;
  site.owner = "train";
  site.category = "activations";
  site.verdict = Verdict::kSteady;
  site.grade = "certain";
  site.explanation = "Every object is freed in the step in which it is made.";
  site.allocations = 52;
  site.frees = 52;
  site.bytes_allocated = 52 * bytes_at_peak;
  site.bytes_at_peak = bytes_at_peak;
  site.peak_without_site = peak - bytes_at_peak;
  site.frames = StackOf(std::move(innermost));

  return site;
}

// A step that rises twenty times; then the process ends, which frees everything.
ReportPeakStep LastStep(uint64_t steps, uint64_t live) {
  ReportPeakStep step;
  step.step = static_cast<int64_t>(steps) - 1;
  for (uint64_t event = 0; event < 120; ++event) {
    step.event.push_back(event);
    step.seconds.push_back(static_cast<double>(event));
    step.live.push_back(event < 20 ? live / 20 * (event + 1) : live / 100 * (119 - event));
  }
  step.consists_of.categories = {{"activations", step.live}};
  step.consists_of.other_sites = step.live;
  return step;
}

ReportTimeline Timeline(uint64_t steps, uint64_t leak_per_step) {
  ReportTimeline timeline;
  timeline.device = 0;
  ReportTimeline::Series activations;
  for (uint64_t step = 0; step < steps; ++step) {
    uint64_t low = kWeights + (step < 2 ? 0 : (step - 2) * leak_per_step);
    timeline.position.push_back(static_cast<double>(step));
    timeline.live.low.push_back(low);
    timeline.live.high.push_back(low + kActivations);
    timeline.reserved.low.push_back(low + 2 * kMiB);
    timeline.reserved.high.push_back(low + kActivations + 8 * kMiB);
    timeline.device_used.low.push_back(low + 502 * kMiB);
    timeline.device_used.high.push_back(low + kActivations + 508 * kMiB);
    activations.low.push_back(0);
    activations.high.push_back(kActivations);
  }
  timeline.at_high.categories = {{"activations", timeline.live.high}};
  timeline.at_high.other_sites = timeline.live.high;
  timeline.categories.emplace_back("activations", std::move(activations));
  if (steps > 0) timeline.peak_step = LastStep(steps, timeline.live.high.back());
  return timeline;
}

// The job with `leak_per_step` leaked over `steps` steps.
Report Job(uint64_t steps, uint64_t leak_per_step) {
  Report report;
  report.tool_version = "0.1.0";
  ReportProcess process;
  process.pid = 4711;
  process.parent_pid = 4700;
  process.command = {"./train", "--layers", "12", "--leak=attention"};
  process.run_id = "4711.2";
  process.complete = true;
  process.events = 12345;
  process.duration_s = 3.25;
  report.processes.push_back(process);
  report.steps = {steps, StepSource::kMarks, 1};

  uint64_t leaked = steps < 3 ? 0 : (steps - 3) * leak_per_step;
  uint64_t peak = kWeights + kActivations + leaked;
  ReportDevice device;
  device.name = "Simulated GPU";
  device.total_bytes = 80 * kGiB;
  device.peak = {static_cast<int64_t>(steps) - 1, peak + 508 * kMiB, peak + 8 * kMiB, peak, {}};
  device.end = {static_cast<int64_t>(steps) - 1,
                kWeights + leaked + 508 * kMiB,
                kWeights + leaked + 8 * kMiB,
                kWeights + leaked,
                {}};
  auto rate = static_cast<double>(leak_per_step);
  ReportGrowth growth;
  growth.bytes_per_step = growth.ci_low = growth.ci_high = rate;
  if (leak_per_step > 0) {
    growth.steps_to_oom = 19432.25;
    growth.steps_to_oom_low = 19300;
    growth.steps_to_oom_high = 19600;
    growth.seconds_to_oom = 8100;
  }
  device.growth = growth;
  device.growth_of = ReportGrowths{growth, growth, growth};
  device.fragmentation.reserved = peak + 8 * kMiB;
  device.fragmentation.live = peak;
  device.fragmentation.rounding = 2 * kMiB;
  device.fragmentation.free_pinned = 6 * kMiB;
  device.fragmentation.lower_bound = peak;
  device.fragmentation.upper_bound = peak + 2 * kMiB;
  device.fragmentation.advice = {
      {"would save 6.00 MiB", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", 66 * kMiB, 60 * kMiB, 6 * kMiB}};
  device.unattributed_bytes = 500 * kMiB;
  report.devices.push_back(device);

  if (leak_per_step > 0) {
    ReportSite leak = Site("a1b2c3d4",
                           Frame("void vramtrack::testdata::Attention<float>::Forward(float const*, int)",
                                 "testdata/transformer/attention.cu", 87),
                           leaked, peak);
    leak.verdict = Verdict::kLeak;
    leak.blame_frame = 2;
    leak.explanation =
        "One object of 4.00 MiB that is made in each step is never freed, while 11 others made by the same layer are.";
    leak.rate_bytes_per_step = leak.rate_ci_low = leak.rate_ci_high = rate;
    leak.rate_objects_per_step = 1;
    leak.onset_step = 3;
    leak.frees = 3;
    leak.live_objects = steps - 3;
    leak.live_bytes = leaked;
    report.ranking.emplace_back(static_cast<uint32_t>(report.sites.size()));
    report.sites.push_back(leak);
  }
  ReportSite weights =
      Site("00000001", Frame("vramtrack::testdata::Model::Model(Config)", "testdata/transformer/model.cu", 40),
           kWeights, peak);
  weights.verdict = Verdict::kOneTime;
  weights.category = "parameters";
  weights.explanation = "Allocated once, before the first step.";
  weights.allocations = 148;
  weights.frees = 0;
  weights.live_objects = 148;
  weights.live_bytes = kWeights;
  report.sites.push_back(weights);
  report.sites.push_back(
      Site("00000002", Frame("vramtrack::testdata::Mlp::Forward(float const*)", "testdata/transformer/mlp.cu", 63),
           kActivations, peak));
  report.timeline.push_back(Timeline(steps, leak_per_step));
  return report;
}

// `report` with the counts that its sites give, and each site a line of the peak.
Report Counted(Report report) {
  std::map<std::optional<uint32_t>, ReportPeakLines> peaks;
  for (uint32_t i = 0; i < report.sites.size(); ++i) {
    const ReportSite& site = report.sites[i];
    ReportPeakLines& peak = peaks[site.device];
    peak.device = site.device;
    if (site.level == Level::kHandle || site.bytes_at_peak == 0) continue;
    peak.live += site.bytes_at_peak;
    if (peak.lines.size() == 20) {
      peak.other_bytes += site.bytes_at_peak;
      ++peak.other_sites;
      continue;
    }
    ReportPeakLine line;
    line.line = site.frames[std::min<size_t>(2, site.frames.size() - 1)];
    line.site = ReportSiteIndex(i);
    line.leak = IsLeak(site);
    line.sites = 1;
    line.bytes = site.bytes_at_peak;
    line.peak_without = site.peak_without_site;
    line.category = site.category;
    peak.lines.push_back(std::move(line));
  }
  report.peak_lines.clear();
  for (auto& [device, peak] : peaks) {
    std::stable_sort(peak.lines.begin(), peak.lines.end(),
                     [](const ReportPeakLine& a, const ReportPeakLine& b) { return a.bytes > b.bytes; });
    report.peak_lines.push_back(std::move(peak));
  }
  std::map<std::string, uint64_t> counts;
  for (const ReportSite& site : report.sites) ++counts[NameOf(site.verdict)];
  report.verdict_counts.assign(counts.begin(), counts.end());
  return report;
}

}  // namespace

Report LeakSample() {
  Report report = Job(52, 4 * kMiB);
  ReportKept kept;
  for (int64_t step = 0; step < 52; ++step) {
    kept.step.push_back(step);
    kept.bytes.push_back(static_cast<uint64_t>(step + 1) * 4 * kMiB);
    kept.objects.push_back(static_cast<uint64_t>(step) + 1);
  }
  kept.fit = {{5, 24.0 * kMiB, 23.5 * kMiB, 24.5 * kMiB}, {49, 200.0 * kMiB, 196.0 * kMiB, 204.0 * kMiB}};
  kept.tested_steps = kept.steps_with_survivors = kept.survivor_objects = 45;
  kept.survivor_bytes = 180 * kMiB;
  kept.first_tested_step = 5;
  kept.last_tested_step = 49;
  report.sites[0].kept = std::move(kept);
  return Counted(report);
}

Report NoLeakSample() {
  Report report = Job(52, 0);
  report.processes[0].command = {"./train", "--layers", "12"};
  ReportDevice& device = report.devices[0];
  ReportValueFit::Line line;
  line.bytes_per_unit = 131.0 * 1024;
  line.ci_low = 124.0 * 1024;
  line.ci_high = 131.4 * 1024;
  line.fixed_bytes = 140.0 * kMiB;
  line.explained = 0.999;
  line.bend_value = 648;
  line.floor_bytes = 223.0 * kMiB;
  line.largest_value = 3700;
  device.by_value = ReportValueFit{35, 128, 1968, line, ""};
  device.suggested_limit = ReportSuggestedLimit{72 * kGiB, 8 * kGiB, 5 * kGiB, 6 * kGiB, kGiB, kGiB, 0, 42, ""};
  return Counted(report);
}

Report TooShortSample() {
  Report report = Job(4, 0);
  report.devices[0].growth.reset();
  report.devices[0].growth_of.reset();
  report.sites[1].verdict = Verdict::kInsufficientEvidence;
  report.sites[1].grade = "";
  report.sites[1].explanation = "Four steps tell nothing about growth.";
  report.sites[1].reason = "chance";
  report.sites[1].odds = 3;
  report.reasons = {{"chance", "activations of encode.cu:88 may leak: it happened too rarely to rule out chance"}};
  return Counted(report);
}

Report OutOfMemorySample() {
  Report report = Job(420, 4 * kMiB);
  report.devices[0].total_bytes = 2 * kGiB;
  report.devices[0].growth->steps_to_oom = 0;
  report.processes[0].complete = false;
  report.processes[0].incomplete_why =
      "the process was killed, called _exit, or became another program (exec): everything up to its last moment is "
      "there";
  ReportOom oom;
  oom.step = 419;
  oom.requested = 2931 * kMiB;
  oom.free = 812 * kMiB;
  oom.largest_free = 800 * kMiB;
  oom.cause = OomCause::kAmount;
  oom.stack = StackOf(Frame("vramtrack::testdata::Mlp::Forward(float const*)", "testdata/transformer/mlp.cu", 63));
  oom.holders = {{ReportSiteIndex(0), 1668 * kMiB}, {ReportSiteIndex(1), kWeights}, {ReportSiteIndex(2), 48 * kMiB}};
  report.oom.push_back(oom);
  report.steps.name = "train step #";
  for (ReportSite& site : report.sites) site.step_name = report.steps.name;
  AnswerFailures(&report);
  return Counted(report);
}

Report ManySitesSample() {
  Report report = Job(2000, 4 * kMiB);
  constexpr Verdict kVerdicts[] = {Verdict::kMinorLeak,           Verdict::kAcceleratingLeak, Verdict::kSublinear,
                                   Verdict::kPhaseAccumulation,   Verdict::kCycleGarbage,     Verdict::kOneTime,
                                   Verdict::kFragmentationGrowth, Verdict::kGrowingBuffer,    Verdict::kSteady};
  constexpr int kSites = 2000;
  for (int i = 0; i < kSites; ++i) {
    ReportSite site = report.sites.back();
    site.id = "many" + std::to_string(i);
    site.frames[2].line = 1000 + i;
    // A few of each finding, and a thousand and more that are in order.
    site.verdict = i < 36 ? kVerdicts[i % 9] : Verdict::kSteady;
    site.level = static_cast<Level>(i % 3);
    site.device = i % 5;
    if (i % 5 == 4) site.device.reset();
    site.bytes_at_peak = 1000 + i * 977;
    site.live_bytes = i;
    if (IsLeak(site)) {
      site.blame_frame = 2;
      site.rate_bytes_per_step = 512.5 + i;
      site.rate_ci_low = 500;
      site.rate_ci_high = 520.25 + i;
      site.rate_objects_per_step = 1.5;
      site.onset_step = 100 + i;
      report.ranking.emplace_back(static_cast<uint32_t>(report.sites.size()));
    }
    report.sites.push_back(site);
  }
  for (uint32_t index = 1; index < 4; ++index) {
    ReportDevice device = report.devices[0];
    device.index = index;
    report.devices.push_back(device);
  }
  ReportProcess lost = report.processes[0];
  lost.pid = 4712;
  lost.rank = 1;
  lost.complete = false;
  lost.incomplete_why = "the disk was full after 3.1 s; what came later is not in the trace";
  lost.lost_events = 987654;
  report.processes.push_back(lost);
  report.warnings = {"no symbols for /usr/lib/libcublas.so.12: functions of it are shown as module and offset"};
  return Counted(report);
}

Report HostileTextSample() {
  Report report = LeakSample();
  ReportSite& leak = report.sites[0];
  leak.frames[2].file =
      "/home/\xe5\xbc\xa0\xe4\xbc\x9f/\xce\xbc\xce\xbf\xce\xbd\xcf\x84\xce\xad\xce\xbb\xce\xbf/att\xffntion.cu";
  leak.frames[2].function = "Mod\xc3\xa8le::\x1b[31mForward\xe2\x80\xae(int)";
  leak.frames[3].file = "dir with spaces\nand a new line/x.cu";
  leak.explanation = "\xc0\xaf\xed\xa0\x80 is no UTF-8\x07";
  report.processes[0].command = {"./tr\xe4in", "\xf0\x9f\x94\xa5", "a\tb", ""};
  report.devices[0].name = "GPU \xe2\x84\xa2 \x9b";
  report.timeline[0].categories[0].first = "acti\xffvations";
  report.timeline[0].position[0] = -std::numeric_limits<double>::infinity();
  report.warnings = {"\x1b]0;title\x07"};
  report.steps.confidence = std::nan("");
  leak.rate_ci_high = std::numeric_limits<double>::infinity();
  report.devices[0].growth->steps_to_oom = std::numeric_limits<double>::infinity();
  return Counted(report);
}

Report EmptySample() {
  Report report;
  report.tool_version = "0.1.0";
  report.reasons = {{"no_steps", "no steps were found"}};
  return report;
}

}  // namespace vramtrack
