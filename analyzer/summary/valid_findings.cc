// SPDX-License-Identifier: Apache-2.0
#include "analyzer/summary/valid_findings.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "analyzer/model/site_references.h"

namespace vramtrack {
namespace {

void Require(bool is_so) {
  if (!is_so) throw std::runtime_error("it contradicts itself");
}

class Checker {
 public:
  explicit Checker(const ProcessFindings& findings) : findings_(findings) {}

  void Run() const {
    ForEachSiteReference(const_cast<ProcessFindings&>(findings_), [this](std::string* site) { IsSite(*site); });
    for (const ReportSite& site : findings_.sites) Check(site);
    for (const ReportDevice& device : findings_.devices) Check(device);
    for (const ReportTimeline& timeline : findings_.timeline) Check(timeline);
    for (const ReportPeakStacks& stacks : findings_.peak_stacks) Check(stacks);
  }

 private:
  // Of nothing: the empty text.
  void IsSite(const std::string& text) const {
    uint64_t site;
    Require(text.empty() || (absl::SimpleAtoi(text, &site) && site < findings_.sites.size()));
  }

  void Check(const ReportSite& site) const {
    Require(site.frames.empty() ? site.blame_frame == 0 : site.blame_frame < site.frames.size());
    Require(!site.own_frame || *site.own_frame < site.frames.size());
    if (!site.kept) return;
    Require(site.kept->bytes.size() == site.kept->step.size() && site.kept->objects.size() == site.kept->step.size());
    Require(site.kept->fit.empty() || site.kept->fit.size() == 2);
  }

  void Check(const ReportDevice& device) const {
    if (!device.fragmentation.map) return;
    const ReportSegmentMap& map = *device.fragmentation.map;
    uint64_t blocks = 0;
    for (const ReportSegmentMap::Segment& segment : map.segments) {
      Require(segment.blocks <= map.blocks.size() - blocks);
      blocks += segment.blocks;
      Require(!segment.pinned_by || *segment.pinned_by < segment.blocks);
    }
    Require(blocks == map.blocks.size());
  }

  static void Check(const ReportTimeline::Series& series, size_t bins) {
    Require(series.low.size() == bins && series.high.size() == bins);
  }

  void Check(const ReportComposition& composition, size_t bins) const {
    const bool empty = composition.categories.empty() && composition.sites.empty() && composition.other_sites.empty();
    if (empty) return;
    Require(composition.other_sites.size() == bins);
    for (const auto& [name, bytes] : composition.categories) Require(bytes.size() == bins);
    for (const auto& [site, bytes] : composition.sites) Require(bytes.size() == bins);
  }

  void Check(const ReportTimeline& timeline) const {
    const size_t bins = timeline.position.size();
    Check(timeline.device_used, bins);
    Check(timeline.reserved, bins);
    Check(timeline.live, bins);
    for (const auto& [name, series] : timeline.categories) Check(series, bins);
    Check(timeline.at_high, bins);
    if (timeline.within_steps) {
      const size_t rows = timeline.within_steps->position.size();
      Require(timeline.within_steps->low.size() == rows && timeline.within_steps->high.size() == rows);
    }
    if (!timeline.peak_step) return;
    const ReportPeakStep& step = *timeline.peak_step;
    Require(step.seconds.size() == step.event.size() && step.live.size() == step.event.size());
    Check(step.consists_of, step.event.size());
  }

  void Check(const ReportPeakStacks& stacks) const {
    for (size_t i = 0; i < stacks.nodes.size(); ++i) {
      const ReportPeakStacks::Node& node = stacks.nodes[i];
      uint64_t site;
      Require(!node.parent || *node.parent < i);
      Require(absl::SimpleAtoi(node.site, &site) && site < findings_.sites.size());
      Require(node.frame < findings_.sites[site].frames.size());
    }
  }

  const ProcessFindings& findings_;
};

}  // namespace

void CheckFindings(const ProcessFindings& findings) { Checker(findings).Run(); }

}  // namespace vramtrack
