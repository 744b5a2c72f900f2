// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/leak_parts.h"

#include <algorithm>
#include <utility>

#include "analyzer/model/site_places.h"

namespace vramtrack {
namespace {

// A site's own line, or, where that is the line of the whole leak, what is further in.
const ReportFrame* PlaceOfPart(const SitePlaces& places, const ReportSite& leader, const ReportSite& part) {
  const ReportFrame* place = places.Of(part.frames);
  if (place == nullptr || leader.frames.empty()) return place;
  const ReportFrame& whole = leader.frames[std::min(leader.blame_frame, leader.frames.size() - 1)];
  return place->file == whole.file && place->line == whole.line ? places.Innermost(part) : place;
}

}  // namespace

LeakParts::LeakParts(const Report& report) {
  for (const ReportSite& site : report.sites) {
    if (!site.part_of.empty()) parts_[site.part_of].push_back(&site);
  }
}

std::vector<LeakPart> LeakParts::Of(const ReportSite& leader) const {
  std::vector<const ReportSite*> sites = {&leader};
  const auto others = parts_.find(leader.id);
  if (others != parts_.end()) sites.insert(sites.end(), others->second.begin(), others->second.end());
  std::stable_sort(sites.begin(), sites.end(), [](const ReportSite* a, const ReportSite* b) {
    return std::make_pair(a->rate_bytes_per_step, a->rate_objects_per_step) >
           std::make_pair(b->rate_bytes_per_step, b->rate_objects_per_step);
  });
  const SitePlaces places(sites);
  std::vector<LeakPart> parts;
  for (const ReportSite* site : sites) parts.push_back({site, PlaceOfPart(places, leader, *site)});
  return parts;
}

}  // namespace vramtrack
