// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_releases.h"

#include <algorithm>
#include <utility>

#include "analyzer/job/site_id.h"

namespace vramtrack {

void JobReleases::Add(const JobProcess& process, std::vector<ReportRelease> releases) {
  for (size_t i = 0; i < releases.size(); ++i) {
    ReportRelease& release = releases[i];
    std::vector<size_t>& alike = by_hash_[FramesHash(release.stack)];
    const auto same = std::find_if(alike.begin(), alike.end(),
                                   [&](size_t index) { return IsSameStack(places_[index].sum.stack, release.stack); });
    if (same == alike.end()) {
      alike.push_back(places_.size());
      const uint64_t bytes = release.bytes;
      places_.push_back({std::move(release), &process, i, &process, &process, bytes});
      continue;
    }
    Place& place = places_[*same];
    ReportRelease& sum = place.sum;
    sum.calls += release.calls;
    sum.segments += release.segments;
    sum.bytes += release.bytes;
    sum.timed += release.timed;
    sum.seconds_at_least += release.seconds_at_least;
    sum.seconds_at_most += release.seconds_at_most;
    sum.least = std::min(sum.least, release.least);
    sum.most = std::max(sum.most, release.most);
    sum.processes += place.last != &process;
    place.last = &process;
    if (IsBefore(process, *place.first)) {
      place.first = &process;
      place.index = i;
    }
    if (release.bytes > place.most_bytes || (release.bytes == place.most_bytes && IsBefore(process, *place.most))) {
      place.most = &process;
      place.most_bytes = release.bytes;
      sum.times = std::move(release.times);
      sum.extra_seconds = release.extra_seconds;
      sum.extra_low = release.extra_low;
      sum.extra_high = release.extra_high;
    }
  }
}

std::vector<ReportRelease> JobReleases::Finish() {
  std::stable_sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
    if (a.sum.bytes != b.sum.bytes) return a.sum.bytes > b.sum.bytes;
    if (a.first == b.first) return a.index < b.index;
    return IsBefore(*a.first, *b.first);
  });
  std::vector<ReportRelease> releases;
  for (Place& place : places_) releases.push_back(std::move(place.sum));
  return releases;
}

}  // namespace vramtrack
