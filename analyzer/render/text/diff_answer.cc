// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/diff_text.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/base/quantity.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {
namespace {

std::string Amount(const DiffFinding& finding, double value) {
  if (finding.unit == ChangeUnit::kObjectsPerStep) {
    return absl::StrCat(FormatAbout(value), " ", finding.kind, value == 1 ? "" : "s");
  }
  return FormatByteCount(value);
}

// The change of a leak that is the worst of its kind: found in one list, or null.
const DiffFinding* Leak(const std::vector<DiffFinding>& findings, bool base_leaks, bool new_leaks) {
  for (const DiffFinding& finding : findings) {
    if (IsRate(finding) && finding.base_leak == base_leaks && finding.leak == new_leaks) return &finding;
  }
  return nullptr;
}

const DiffFinding* AnyLeak(const DiffReport& report, bool base_leaks, bool new_leaks) {
  for (const DiffSection& section : SectionsOf(report)) {
    if (const DiffFinding* found = Leak(*section.findings, base_leaks, new_leaks)) return found;
  }
  return nullptr;
}

// The finding that explains most of a device's change.
const DiffFinding* MainReason(const DiffReport& report, const DiffDevice& device) {
  const DiffFinding* most = nullptr;
  for (const DiffSection& section : SectionsOf(report)) {
    for (const DiffFinding& finding : *section.findings) {
      if (finding.unit != ChangeUnit::kBytesAtPeak || finding.device != device.index) continue;
      if ((finding.delta() > 0) != (device.peak.delta() > 0)) continue;
      if (most == nullptr || std::fabs(finding.delta()) > std::fabs(most->delta())) most = &finding;
    }
  }
  return most;
}

const DiffDevice* ChangedPeak(const DiffReport& report) {
  const DiffDevice* most = nullptr;
  for (const DiffDevice& device : report.devices) {
    if (!device.peak.significant) continue;
    if (most == nullptr || std::fabs(device.peak.delta()) > std::fabs(most->peak.delta())) most = &device;
  }
  return most;
}

std::string Compared(const DiffReport& report) {
  return absl::StrCat(Plural(report.matched_sites, "site", "sites"), ", ",
                      Plural(report.next.steps.count, "step", "steps"));
}

DiffAnswer LeakAnswer(const DiffFinding& finding, const char* title, Paint paint) {
  return {title, absl::StrCat(PlaceOf(finding), "  ", ChangeOf(finding)), paint, &finding};
}

DiffAnswer PeakAnswer(const DiffReport& report, const DiffDevice& device) {
  DiffAnswer answer;
  answer.title = absl::StrCat("PEAK ", SignedBytes(device.peak.delta()));
  answer.words = absl::StrCat("on device ", device.index, ", from ", FormatByteCount(device.peak.base), " to ",
                              FormatByteCount(device.peak.next));
  answer.paint = device.peak.delta() > 0 ? Paint::kAlarm : Paint::kGood;
  answer.finding = MainReason(report, device);
  if (answer.finding != nullptr) {
    absl::StrAppend(&answer.words, ", of which ", SignedBytes(answer.finding->delta()), " at ",
                    PlaceOf(*answer.finding));
  }
  return answer;
}

DiffAnswer Unchanged(const DiffReport& report) {
  DiffAnswer answer;
  answer.title = "NOTHING CHANGED";
  answer.paint = Paint::kGood;
  for (const DiffSide* side : {&report.base, &report.next}) {
    if (side->incomplete.empty()) continue;
    answer.title = "NO CHANGE FOUND";
    answer.paint = Paint::kWarning;
    answer.words = absl::StrCat("but the record of the ", side == &report.base ? "first" : "second",
                                " run is not complete (", side->incomplete, ")");
    return answer;
  }
  if (report.identical) {
    answer.words = absl::StrCat("identical allocation sequence of ", Plural(report.events, "event", "events"));
    return answer;
  }
  if (!report.tested) {
    answer.title = "NO CHANGE FOUND";
    answer.paint = Paint::kWarning;
    answer.words = absl::StrCat("but too few steps to distinguish a change from noise (", Compared(report), ")");
    return answer;
  }
  answer.words = absl::StrCat("beyond the noise of the runs (", Compared(report), ")");
  return answer;
}

}  // namespace

std::string SignedBytes(double bytes) { return absl::StrCat(bytes < 0 ? "" : "+", FormatByteCount(bytes)); }

std::string PlaceOf(const DiffFinding& finding) {
  const size_t last = finding.frames.size() - 1;
  return FramePlace(finding.frames.empty() ? nullptr : &finding.frames[std::min(finding.naming_frame, last)]);
}

std::string ChangeOf(const DiffFinding& finding) {
  const std::string old = Amount(finding, finding.base_value), now = Amount(finding, finding.new_value);
  if (IsRate(finding)) {
    const std::string per = absl::StrCat(" per ", NameOf(finding.rate_unit));
    if (!finding.leak) return absl::StrCat("no longer leaks ", old, per);
    if (!finding.base_leak) return absl::StrCat("leaks ", now, per);
    return absl::StrCat("leaks ", now, per, ", before ", old);
  }
  const char* when = finding.unit == ChangeUnit::kBytesAtPeak ? "at the peak"
                     : finding.rate_unit == RateUnit::kStep   ? "allocated per step"
                                                              : "allocated per window";
  return absl::StrCat(SignedBytes(finding.delta()), " ", when, " (", old, " to ", now, ")");
}

std::vector<DiffSection> SectionsOf(const DiffReport& report) {
  std::vector<DiffSection> sections;
  for (const DiffSection& section : {DiffSection{"New", &report.added},
                                     {"Grown", &report.grown},
                                     {"Gone", &report.gone},
                                     {"Shrunk", &report.shrunk}}) {
    if (!section.findings->empty()) sections.push_back(section);
  }
  return sections;
}

DiffAnswer AnswerOf(const DiffReport& report) {
  if (!report.comparable) return {"NOT COMPARABLE", Printable(report.reason), Paint::kWarning, nullptr};
  if (const DiffFinding* leak = AnyLeak(report, false, true)) return LeakAnswer(*leak, "NEW LEAK", Paint::kAlarm);
  if (const DiffFinding* leak = Leak(report.grown, true, true)) {
    return LeakAnswer(*leak, "LEAK GROWN", Paint::kAlarm);
  }
  const DiffDevice* device = ChangedPeak(report);
  if (device != nullptr && device->peak.delta() > 0) return PeakAnswer(report, *device);
  if (const DiffFinding* leak = AnyLeak(report, true, false)) return LeakAnswer(*leak, "LEAK GONE", Paint::kGood);
  if (device != nullptr) return PeakAnswer(report, *device);
  const std::vector<DiffSection> sections = SectionsOf(report);
  if (sections.empty()) return Unchanged(report);
  size_t findings = 0;
  for (const DiffSection& section : sections) findings += section.findings->size();
  return {"CHANGED", absl::StrCat(Plural(findings, "site", "sites"), ", but no peak and no leak"), Paint::kWarning,
          nullptr};
}

}  // namespace vramtrack
