// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/testing/sample_job.h"

#include "absl/strings/str_cat.h"

namespace vramtrack {

ReportSite SampleSite(const std::string& function, uint32_t device, Verdict verdict, double rate, int frames) {
  ReportSite site;
  site.level = Level::kFramework;
  site.kind = "framework_block";
  site.device = device;
  site.verdict = verdict;
  site.rate_bytes_per_step = site.rate_ci_low = site.rate_ci_high = rate;
  site.rate_objects_per_step = rate > 0 ? 1 : 0;
  if (IsLeak(site)) site.group = ReportLeak{rate, rate, rate, 1, 0, 0, 0};
  site.allocations = 100;
  site.bytes_at_peak = 10 << 20;
  for (int f = 0; f < frames; ++f) {
    ReportFrame frame;
    frame.function = f == 0 ? function : absl::StrCat("a_function_of_the_job_", f);
    frame.file = absl::StrCat("/home/somebody/the_job/a_package/module_", f, ".py");
    frame.module = "/usr/lib/python3/libpython3.so";
    frame.language = Language::kPython;
    frame.line = static_cast<uint32_t>(10 + f);
    site.frames.push_back(frame);
  }
  return site;
}

ProcessFindings SampleRank(int rank) {
  ProcessFindings process;
  process.process.pid = static_cast<uint32_t>(1000 + rank);
  process.process.rank = rank;
  process.process.command = {"python", "train.py"};
  process.process.complete = true;
  process.process.events = 10000;
  process.process.duration_s = 100 + 0.125 * (rank % 7);
  process.steps.count = 100;
  process.steps.source = StepSource::kMarks;
  process.steps.confidence = 1;
  ReportDevice device;
  device.index = static_cast<uint32_t>(rank % 8);
  device.peak.live = device.end.live = 1000 * kMiB;
  device.peak.reserved = (1100 + static_cast<uint64_t>(rank % 5)) * kMiB;
  process.devices = {device};
  ReportTimeline timeline;
  timeline.device = device.index;
  for (uint64_t bin = 0; bin < 100; ++bin) {
    timeline.position.push_back(static_cast<double>(bin));
    for (ReportTimeline::Series* series : {&timeline.device_used, &timeline.reserved, &timeline.live}) {
      series->low.push_back(bin);
      series->high.push_back(bin + device.peak.live);
    }
  }
  timeline.at_high.sites = {{ReportSiteIndex(0), timeline.live.high}};
  timeline.at_high.other_sites.resize(100);
  process.timeline = {timeline};
  return process;
}

}  // namespace vramtrack
