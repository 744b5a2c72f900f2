// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/site_references.h"

namespace vramtrack {
namespace {

// Empty: none of the report's.
void Rename(const SiteNamer& name, std::string* site) {
  if (!site->empty()) *site = name(std::stoul(*site));
}

void Rename(const SiteNamer& name, ReportComposition* composition) {
  for (auto& [site, bytes] : composition->sites) Rename(name, &site);
}

}  // namespace

void RenameSites(const SiteNamer& name, ReportDevice* device) {
  for (ReportPeakWithout& without : device->peak_set.without) {
    for (std::string& site : without.sites) Rename(name, &site);
  }
  for (ReportPattern& pattern : device->patterns) Rename(name, &pattern.site);
  for (ReportPin& pin : device->fragmentation.pins) Rename(name, &pin.site);
  if (device->fragmentation.growth) {
    for (ReportPin& pin : device->fragmentation.growth->pins) Rename(name, &pin.site);
  }
  if (!device->fragmentation.map) return;
  for (ReportSegmentMap::Block& block : device->fragmentation.map->blocks) Rename(name, &block.site);
}

void RenameSites(const SiteNamer& name, ReportTimeline* timeline) {
  Rename(name, &timeline->at_high);
  if (timeline->peak_step) Rename(name, &timeline->peak_step->consists_of);
}

void RenameSites(const SiteNamer& name, ReportPeakLines* lines) {
  for (ReportPeakLine& line : lines->lines) Rename(name, &line.site);
}

void RenameSites(const SiteNamer& name, ReportPeakStacks* stacks) {
  for (ReportPeakStacks::Node& node : stacks->nodes) Rename(name, &node.site);
}

void RenameSites(const SiteNamer& name, ReportOom* oom) {
  for (auto& [site, bytes] : oom->holders) Rename(name, &site);
  for (ReportOom::Change& change : oom->changes) Rename(name, &change.site);
}

}  // namespace vramtrack
