// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/model/answer.h"
#include "analyzer/render/text/sections.h"

namespace vramtrack {
namespace {

// One of the three functions writes it.
struct Section {
  const char* name;
  const char* about;
  bool by_default;
  void (*of_report)(const TextView& view);
  void (*of_device)(const TextView& view, const ReportDevice& device);
  WordRows (*rows)(const Report& report, const ReportDevice& device);

  bool is_of_device() const { return of_report == nullptr; }
};

constexpr Section kSections[] = {
    {"oom", "the allocation that failed, and who held the memory", true, WriteOutOfMemory, nullptr, nullptr},
    {"answer", "the worst leak, or that there is none", true, WriteHeadline, nullptr, nullptr},
    {"findings", "further leaks, and lines that look like one", false, WriteFurther, nullptr, nullptr},
    {"ranks", "how ranks differ", true, WriteRanks, nullptr, nullptr},
    {"memory", "what the device had at its peak and at the end", false, nullptr, nullptr, MemoryRows},
    {"ledger", "what adds up to the memory used on the device", false, nullptr, nullptr, LedgerRows},
    {"growth", "the lines that grew", false, nullptr, nullptr, GrowthRows},
    {"held", "what Python names hold, from a walk", false, nullptr, nullptr, HeldRows},
    {"value", "how a step's peak follows from its value", false, nullptr, nullptr, ValueRows},
    {"limit", "how much of the device can be filled", false, nullptr, nullptr, LimitRows},
    {"fragmentation", "what is reserved and not live, and what pins it", false, nullptr, nullptr, FragmentationRows},
    {"untraced", "untraced memory", false, nullptr, nullptr, UntracedRows},
    {"advice", "settings that save memory", true, nullptr, WriteAdvice, nullptr},
    {"curve", "live bytes over the steps", true, nullptr, WriteCurve, nullptr},
    {"lines", "the lines that hold the memory at the peak", true, nullptr, WritePeakLines, nullptr},
    {"driver", "what libraries took from the driver", false, nullptr, WriteDriver, nullptr},
    {"savings", "objects that are freed late, and the peak without the largest lines", false, nullptr, WriteSavings,
     nullptr},
    {"returned", "memory that was returned to the driver", false, WriteReleases, nullptr, nullptr},
    {"cards", "cards that several processes share", true, WriteCards, nullptr, nullptr},
    {"contexts", "CUDA contexts on devices where their process does not work; whole, all", true, WriteContexts, nullptr,
     nullptr},
    {"host", "the host's memory", false, WriteHost, nullptr, nullptr},
    {"pinned", "pinned host memory, where it leaks", true, WritePinned, nullptr, nullptr},
    {"sleep", "what lived through sleeps", true, WriteSleeps, nullptr, nullptr},
    {"trace", "how complete the trace is", true, WriteTrace, nullptr, nullptr},
};

// The device that the answer is about; where it is about none, the one with the highest peak.
const ReportDevice* MainDevice(const Report& report) {
  std::optional<uint32_t> index;
  if (!report.oom.empty()) {
    index = report.oom.back().device;
  } else if (!report.ranking.empty()) {
    if (const ReportSite* site = FindSite(report, report.ranking[0])) index = site->device;
  }
  if (const ReportDevice* const device = FindDevice(report, index)) return device;
  const auto main =
      std::max_element(report.devices.begin(), report.devices.end(),
                       [](const ReportDevice& a, const ReportDevice& b) { return a.peak.live < b.peak.live; });
  return main == report.devices.end() ? nullptr : &*main;
}

void WriteDevice(const TextView& view, const ReportDevice& device, bool whole) {
  const bool in_title = !view.options.Whole("memory");
  view.page->Words(in_title ? absl::StrCat(DeviceTitle(device), "; ", PeakText(device)) : DeviceTitle(device), 0,
                   Paint::kBold);
  if (!whole) return;
  for (const Section& section : kSections) {
    if (!section.is_of_device() || !(section.by_default || view.options.Whole(section.name))) continue;
    if (section.rows != nullptr) {
      WriteRows(section.rows(view.report, device), view.page);
    } else {
      section.of_device(view, device);
    }
  }
}

// Several devices are much alike: unless all is asked for, one is shown whole.
void WriteDevices(const TextView& view) {
  const ReportDevice* const main = MainDevice(view.report);
  const bool all = view.options.verbose || !view.options.show.empty();
  size_t left = view.options.top;
  for (const ReportDevice& device : view.report.devices) {
    if (!all && &device != main && left == 0) continue;
    const bool whole = all || &device == main;
    left -= !whole && left > 0;
    // Those with one line are one paragraph.
    if (whole || &device == &view.report.devices[0]) view.page->Blank();
    WriteDevice(view, device, whole);
  }
}

}  // namespace

std::vector<TextSection> TextSections() {
  std::vector<TextSection> sections;
  for (const Section& section : kSections) sections.push_back({section.name, section.about, section.by_default});
  return sections;
}

std::string RenderText(const Report& report, const TextStyle& style, const TextOptions& options) {
  Page page(style);
  const SitePlaces places(report);
  const TextView view{report, places, options, &page};
  bool devices_written = false;
  for (const Section& section : kSections) {
    if (section.is_of_device()) {
      if (!std::exchange(devices_written, true)) WriteDevices(view);
    } else if (section.by_default || options.Whole(section.name)) {
      section.of_report(view);
    }
  }
  return page.text();
}

}  // namespace vramtrack
