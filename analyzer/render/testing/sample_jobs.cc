// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/testing/sample_reports.h"

#include <string>

#include "analyzer/model/site_references.h"

namespace vramtrack {
namespace {

ReportFrame Python(const char* function, const char* file, const char* shown_file, uint32_t line) {
  ReportFrame frame;
  frame.function = function;
  frame.file = file;
  frame.shown_file = shown_file;
  frame.line = line;
  frame.language = Language::kPython;
  frame.forward = true;
  return frame;
}

}  // namespace

Report PyTorchSample() {
  Report report = LeakSample();
  ReportSite& leak = report.sites[0];
  leak.level = Level::kFramework;
  leak.grade = NameOf(leak.level);
  leak.kind = "framework_block";
  ReportFrame native, node;
  native.function = "at::native::empty_cuda(c10::ArrayRef<long>)";
  native.module = "/env/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so";
  native.offset = 0x143cd13;
  native.language = Language::kCpp;
  node.function = "AddmmBackward0";
  node.language = Language::kAutograd;
  node.origin = ReportFrame::Origin::kNode;
  ReportFrame linear = Python("Linear.forward", "/env/lib/python3.11/site-packages/torch/nn/modules/linear.py",
                              "torch/nn/modules/linear.py", 134);
  linear.origin = ReportFrame::Origin::kLibrary;
  leak.frames = {native,
                 node,
                 linear,
                 Python("Net.forward", "/home/me/job/model.py", "model.py", 12),
                 Python("step", "/home/me/job/train.py", "train.py", 42),
                 Python("<module>", "/home/me/job/train.py", "train.py", 60)};
  leak.blame_frame = 4;
  return report;
}

namespace {

// As the rank that it is of: rising from a third of its peak, and the last one ends half-way.
ReportRankCurve Curve(const ReportRank& rank, uint64_t order, CurveReason as) {
  constexpr uint64_t kBins = 50;
  ReportRankCurve curve;
  curve.order = order;
  curve.as = as;
  curve.device = rank.devices[0];
  for (uint64_t bin = 0; bin < (rank.rank == 3 ? kBins / 2 : kBins); ++bin) {
    const uint64_t high = rank.peak_live / 3 + rank.peak_live * 2 / 3 * bin / (kBins - 1);
    curve.position.push_back(static_cast<double>(2 * bin));
    curve.live.high.push_back(high);
    curve.live.low.push_back(high / 2);
    curve.reserved.high.push_back(high + (64 << 20));
    curve.reserved.low.push_back(high);
  }
  return curve;
}

}  // namespace

Report RanksSample() {
  Report report = PyTorchSample();
  for (uint32_t i = 0; i < 4; ++i) {
    ReportRank rank;
    rank.rank = static_cast<int>(i);
    rank.pid = 4700 + i;
    rank.devices = {i};
    rank.peak_live = (500 + 200 * (i == 2)) << 20;
    rank.end_live = 400 << 20;
    if (i != 3) rank.growth_bytes_per_step = 0;
    report.ranks.push_back(rank);
  }
  ReportRank& leaking = report.ranks[2];
  leaking.leaks = 1;
  leaking.leak_bytes_per_step = 4 << 20;
  leaking.differs = {{RankFigure::kLeak, 4 << 20, 0, ReportSiteIndex(0), ""},
                     {RankFigure::kPeak, 700 << 20, 500 << 20, {}, ""}};
  report.ranks[2].curve = Curve(report.ranks[2], 0, CurveReason::kDiffers);
  report.ranks[0].curve = Curve(report.ranks[0], 1, CurveReason::kAlike);
  report.ranks[1].curve = Curve(report.ranks[1], 2, CurveReason::kMedian);
  report.ranks[3].curve = Curve(report.ranks[3], 3, CurveReason::kAlike);
  return report;
}

Report SharedCardSample() {
  constexpr uint64_t kMiB = 1 << 20;
  Report report = NoLeakSample();
  report.processes.push_back(report.processes[0]);
  report.processes[1].pid = 4712;
  ReportHost& host = report.host.emplace();
  host.pid = 4712;
  host.readings = 104;
  host.resident = {374 * kMiB,
                   426 * kMiB,
                   430 * kMiB,
                   ReportGrowth{1.0 * kMiB, 0.9 * kMiB, 1.1 * kMiB, {}, 0, 0, {}, "", {}},
                   {374 * kMiB, 400 * kMiB},
                   {380 * kMiB, 430 * kMiB}};
  host.pinned = {0, 12 * kMiB, 12 * kMiB, {}, {12 * kMiB, 12 * kMiB}, {12 * kMiB, 12 * kMiB}};
  host.shared = 129 * kMiB;
  host.step = {0, 26};
  ReportCard& card = report.cards.emplace_back();
  card.uuid = "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f";
  card.name = "Simulated GPU";
  card.total_bytes = uint64_t{80} << 30;
  card.processes = {{4711, 0, 0, 0, 60, 61 * kMiB, 0, 40 * kMiB},
                    {4712, {}, 0, 12, 70, 51 * kMiB, 1 * kMiB, 31 * kMiB}};
  card.most = 71 * kMiB;
  card.most_s = 20;
  card.others = 600 * kMiB;
  return report;
}

Report LargeJobSample() {
  constexpr double kMiB = 1 << 20;
  Report report = RanksSample();
  for (int i = 4; i < 64; ++i) {
    ReportRank rank = report.ranks[0];
    rank.rank = i;
    rank.pid = static_cast<uint32_t>(4700 + i);
    rank.devices = {static_cast<uint32_t>(i % 8)};
    rank.leaks = 1;
    rank.curve->order = static_cast<uint64_t>(i);
    report.ranks.push_back(rank);
    ReportProcess process = report.processes[0];
    process.rank = i;
    process.pid = rank.pid;
    report.processes.push_back(process);
  }
  report.ranks[2].differs = {};
  ReportAcross& across = report.sites[0].across.emplace();
  across.ranks = 64;
  across.leak = 61;
  across.not_enough = 2;
  across.no_leak = 1;
  ReportAcross::Rate& rate = across.rate.emplace();
  rate.mean = rate.median = 4 * kMiB;
  rate.ci_low = 3.98 * kMiB;
  rate.ci_high = 4.02 * kMiB;
  rate.least = 3.9 * kMiB;
  rate.most = 4.1 * kMiB;
  rate.standard_deviation = 0.05 * kMiB;
  rate.most_rank = 17;
  rate.most_pid = 4717;
  report.devices[0].rank = 17;
  report.devices[0].pid = 4717;
  report.devices[0].processes = 8;
  return report;
}

Report MarkupSample() {
  const std::string hostile =
      "</script></style></pre></noscript><!--<script>window.hostile=1</script><img src=x onerror=window.hostile=1>"
      "&lt;b&gt;'\"`${window.hostile=1}\\";
  Report report = LeakSample();
  report.tool_version = hostile;
  for (ReportSite& site : report.sites) {
    site.owner = site.kind = site.category = site.explanation = hostile;
    for (ReportFrame& frame : site.frames) frame.function = frame.file = frame.module = hostile;
  }
  for (ReportProcess& process : report.processes) process.command = {hostile, "--" + hostile};
  for (ReportDevice& device : report.devices) device.name = hostile;
  for (ReportTimeline& timeline : report.timeline) {
    if (!timeline.categories.empty()) timeline.categories[0].first = hostile;
  }
  for (ReportPeakLines& lines : report.peak_lines) {
    for (ReportPeakLine& line : lines.lines) {
      line.category = hostile;
      if (line.line) line.line->function = line.line->file = hostile;
    }
  }
  report.warnings = {hostile};
  return report;
}

Report CuptiSample() {
  constexpr uint64_t kMiB = 1 << 20;
  Report report = LeakSample();
  ReportActivities activities;
  activities.records = 123456;
  activities.dropped = 12;
  activities.unwritten = 3;
  activities.joined = 12000;
  activities.joined_bytes = 900 * kMiB;
  activities.other_sizes = 1;
  activities.only_cupti = {{"libcublasLt.so.13", "device", 0, 52, 104 * kMiB, 50, 100 * kMiB},
                           {"", "pinned", 0, 1, 4096, 0, 0}};
  activities.only_hooks = {{"physical", 4, 8 * kMiB, false}, {"device", 2, 1024, true}};
  activities.missing = {{0, 0.0125, "CUPTI was not at work yet"}};
  report.processes[0].activities = activities;

  ReportDevice& device = report.devices[0];
  device.only_cupti = {{"libcublasLt.so.13", 104 * kMiB, 100 * kMiB}};

  report.sites[0].last_use = {49, 2.75, 48, 0.5};
  report.sites[0].memory_name = {"scores of layer #", 1};
  report.sites[0].nvtx_range = {"epoch # > evaluate", 0.97, "train.py:30 in evaluate"};
  report.sites[0].first_kernel = {"void attend<float>(float const*, int)", 0.98};
  ReportSite unseen = report.sites[0];
  unseen.id = "b1b2b3b4";
  unseen.owner = "libcublasLt.so.13";
  ReportFrame library;
  library.function = library.module = unseen.owner;
  library.language = Language::kCupti;
  library.origin = ReportFrame::Origin::kCupti;
  unseen.frames = {library};
  unseen.blame_frame = 0;
  unseen.rate_bytes_per_step = unseen.rate_ci_low = unseen.rate_ci_high = 2 * kMiB;
  unseen.last_use.reset();
  unseen.first_kernel.reset();
  report.sites.insert(report.sites.begin() + 1, unseen);
  // What follows it has moved.
  ForEachSiteReference(report,
                       [](ReportSiteIndex* site) { *site = *site > ReportSiteIndex(0) ? site->Next() : *site; });
  report.ranking.emplace_back(1);
  return report;
}

Report HolderSample() {
  constexpr uint64_t kMiB = 1 << 20;
  Report report = PyTorchSample();
  report.walks = {{WalkMoment::kGrowth, 602, 12.5, 0.21, 361204, 742, 741, "", 4711},
                  {WalkMoment::kExit, 1204, 25, 0.25, 402117, 1344, 1340, "its time limit was reached", 4711}};
  ReportHolder holder;
  holder.path = "__main__.history[*]['loss'].grad_fn → saved by AddmmBackward0";
  holder.container = "__main__.history";
  holder.type = "list";
  holder.file = "/job/train.py";
  holder.count = 1204;
  holder.count_before = 602;
  holder.step = 1204;
  holder.step_before = 602;
  holder.seconds = 25;
  holder.seconds_before = 12.5;
  holder.share = 0.98;
  holder.bytes = 490 * kMiB;
  holder.walked_bytes = 500 * kMiB;
  holder.not_seen_bytes = 5 * kMiB;
  holder.not_seen_objects = 3;
  holder.how = HolderKind::kGraph;
  holder.complete = false;
  holder.walk = 2;
  holder.others = {{"train(): loss", "Tensor", std::nullopt, 5 * kMiB, 1, 0.01}};
  holder.explanation =
      "history (a list in train.py, 1,204 entries, 602 at step 602): each entry's 'loss' keeps its graph; 98 % of the "
      "leak's bytes; the walk stopped early, so there may be other holders";
  holder.hint = "store .item() or .detach() of 'loss': the tensor itself keeps its whole graph";
  report.sites[report.ranking[0].value()].holder = holder;
  ReportHeld held;
  held.walk = 2;
  held.step = 1204;
  held.seconds = 25;
  held.complete = false;
  held.categories = {{"saved_for_backward", CategorySource::kWalk, 490 * kMiB, 1204},
                     {"parameters", CategorySource::kWalk, 480 * kMiB, 148},
                     {"temporary", CategorySource::kInferred, 5 * kMiB, 3}};
  held.saved = {{"AddmmBackward0", 400 * kMiB, 1000}, {"MulBackward0", 90 * kMiB, 204}};
  held.modules = {{"model.transformer.wte", 150 * kMiB, 1}, {"model.transformer.h.0.mlp.c_fc", 9 * kMiB, 2}};
  held.shapes = {{"float32 [50257, 768]", 147 * kMiB, 1}};
  report.devices[0].held = held;
  ReportModuleMemory memory;
  memory.walk = 1;
  memory.moment = WalkMoment::kGrowth;
  memory.step = 602;
  memory.seconds = 12.5;
  memory.parts = {
      {{}, "saved_for_backward", CategorySource::kWalk, "AddmmBackward0", 240 * kMiB, 602},
      {{"model", "transformer", "wte"}, "parameters", CategorySource::kWalk, "", 150 * kMiB, 1},
      {{"model", "transformer", "h", "0", "mlp", "c_fc"}, "parameters", CategorySource::kWalk, "", 9 * kMiB, 1},
      {{"model", "transformer", "h", "0", "mlp", "c_fc"}, "gradients", CategorySource::kWalk, "", 9 * kMiB, 1},
      {{"model", "transformer"}, "named", CategorySource::kWalk, "cache", 2 * kMiB, 2},
      {{}, "temporary", CategorySource::kInferred, "", 5 * kMiB, 3}};
  for (const ReportModuleMemory::Part& part : memory.parts) memory.live += part.bytes;
  report.devices[0].module_memory = memory;
  return report;
}

}  // namespace vramtrack
