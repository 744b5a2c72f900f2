// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/regressions.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/check/limits.h"
#include "analyzer/check/site_findings.h"
#include "analyzer/model/site_places.h"

namespace vramtrack {
namespace {

// Of what a step leaves behind.
bool IsFasterLeak(const DiffFinding& finding) {
  // A new site that leaks may be listed by what it holds.
  return finding.leak && finding.new_site && (IsRate(finding) || !finding.base_site);
}

CheckUnit UnitOf(const DiffFinding& finding) {
  if (finding.unit == ChangeUnit::kObjectsPerStep) return CheckUnit::kObjectsPerStep;
  return finding.unit == ChangeUnit::kBytesAtPeak ? CheckUnit::kBytes : CheckUnit::kBytesPerStep;
}

// The number that tells sites with the same functions apart depends on which sites a report lists.
bool IsSameSite(const ReportSite& site, const DiffFinding& finding) {
  const auto functions = [](const std::string& id) { return id.substr(0, id.find('-')); };
  if (functions(site.id) != functions(*finding.new_site) || site.frames.size() != finding.frames.size()) return false;
  for (size_t i = 0; i < site.frames.size(); ++i) {
    if (site.frames[i].line != finding.frames[i].line || site.frames[i].offset != finding.frames[i].offset)
      return false;
  }
  return true;
}

CheckFinding SiteRegression(const DiffFinding& change, const char* rule) {
  CheckFinding finding;
  NameByFrame(change.frames, change.naming_frame, &finding);
  finding.rule = rule;
  finding.site = change.new_site.value_or("");
  finding.key = absl::StrCat(finding.site, "|", NameOf(change.unit));
  finding.device = change.device;
  finding.value = change.new_value;
  finding.limit = change.base_value;
  finding.unit = UnitOf(change);
  finding.message = Printable(change.explanation);
  return finding;
}

struct DeviceFigure {
  const char* rule;
  DiffValue DiffDevice::*value;
  LimitUnit unit;
  const char* what;
};
constexpr DeviceFigure kDeviceFigures[] = {
    {"peak-regression", &DiffDevice::peak, LimitUnit::kBytes, " live at the peak"},
    {"reserved-regression", &DiffDevice::reserved_peak, LimitUnit::kBytes, " reserved at the peak"},
    {"growth-regression", &DiffDevice::growth, LimitUnit::kBytesPerStep, " of growth"},
    {"fragmentation-regression", &DiffDevice::fragmentation, LimitUnit::kBytes, " reserved and not live at the peak"},
};

void AddRegression(const DiffDevice& device, const char* rule, const DiffValue& value, LimitUnit unit,
                   const std::string& what, std::vector<CheckFinding>* findings) {
  if (!value.significant || value.delta() <= 0) return;
  CheckFinding finding;
  finding.rule = rule;
  finding.subject = absl::StrCat("device ", device.index);
  finding.key = absl::StrCat(rule, "|", finding.subject, "|", what);
  finding.device = device.index;
  finding.value = value.next;
  finding.limit = value.base;
  finding.unit = unit == LimitUnit::kBytes ? CheckUnit::kBytes : CheckUnit::kBytesPerStep;
  finding.message = absl::StrCat(FormatValue(value.next, unit), what, " instead of ", FormatValue(value.base, unit),
                                 " in the baseline");
  findings->push_back(std::move(finding));
}

}  // namespace

FasterLeaks::FasterLeaks(const DiffReport& diff) {
  for (const auto* list : {&diff.added, &diff.grown}) {
    for (const DiffFinding& finding : *list) {
      if (IsFasterLeak(finding)) leaks_.push_back({&finding, false});
    }
  }
}

const DiffFinding* FasterLeaks::Find(const ReportSite& site) {
  const DiffFinding* first = nullptr;
  // One leak may be there by its bytes and by its objects.
  for (auto& [finding, found] : leaks_) {
    const auto is_site = [&site](const DiffFinding& one) { return one.new_site && IsSameSite(site, one); };
    if (!is_site(*finding) && std::none_of(finding->parts.begin(), finding->parts.end(), is_site)) continue;
    found = true;
    if (first == nullptr) first = finding;
  }
  return first;
}

std::vector<const DiffFinding*> FasterLeaks::Others() const {
  std::vector<const DiffFinding*> others;
  for (const auto& [finding, found] : leaks_) {
    if (!found) others.push_back(finding);
  }
  return others;
}

CheckFinding LeakRegression(const DiffFinding& change) { return SiteRegression(change, "leak"); }

void DescribeChange(const DiffFinding& change, double base_rate, bool of_many, CheckFinding* finding) {
  const char* together = of_many ? " together" : "";
  if (!change.base_site) {
    absl::StrAppend(&finding->message, "; the baseline does not have this site");
  } else if (finding->unit == CheckUnit::kObjectsPerStep) {
    absl::StrAppend(&finding->message, "; in the baseline ", FormatValue(change.base_value, LimitUnit::kObjectsPerStep),
                    together);
  } else if (base_rate > 0) {
    absl::StrAppend(&finding->message, "; in the baseline it leaks ", FormatValue(base_rate, LimitUnit::kBytesPerStep),
                    together);
  } else {
    absl::StrAppend(&finding->message, "; in the baseline it does not leak");
  }
}

std::vector<CheckFinding> FindRegressions(const DiffReport& diff, const Report& report) {
  const SitePlaces places(report);
  std::vector<CheckFinding> findings;
  const auto add = [&](const DiffFinding& change, const char* rule) {
    if (IsFasterLeak(change)) return;
    CheckFinding finding = SiteRegression(change, rule);
    for (const ReportSite& site : report.sites) {
      if (!change.new_site || !IsSameSite(site, change)) continue;
      // By the frame that tells it apart: the innermost is often the same helper in all of them.
      if (const ReportFrame* place = places.Of(site)) {
        NameByFrame(site.frames, static_cast<size_t>(place - site.frames.data()), &finding);
      }
      finding.site = site.id;
      finding.key = absl::StrCat(site.id, "|", NameOf(change.unit));
      break;
    }
    findings.push_back(std::move(finding));
  };
  for (const DiffFinding& change : diff.added) add(change, "new-site");
  for (const DiffFinding& change : diff.grown) add(change, "grown-site");
  for (const DiffDevice& device : diff.devices) {
    for (const DeviceFigure& figure : kDeviceFigures) {
      AddRegression(device, figure.rule, device.*figure.value, figure.unit, figure.what, &findings);
    }
    for (const auto& [name, value] : device.categories) {
      AddRegression(device, "category-regression", value, LimitUnit::kBytes,
                    absl::StrCat(" of ", name, " live at the peak"), &findings);
    }
  }
  return findings;
}

}  // namespace vramtrack
