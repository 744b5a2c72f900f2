// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PROFILE_MAKE_STEP_PROFILE_H_
#define ANALYZER_PROFILE_MAKE_STEP_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/profile/diff_site.h"
#include "analyzer/profile/event_sequence.h"
#include "analyzer/profile/step_meter.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// Makes the profile of a process for a summary, either as a guest of a report's collectors, see FindInAnalysis, or
// alone. The same trace and options give the same profile. Memory: a few words for each kept site and window, and some
// for each step and device. Thread-compatible.
class ProfileMaker final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit ProfileMaker(ProcessAnalysis* analysis);

  const char* name() const override { return "step profile"; }
  void Prepare(Replay* detail) override;
  void Describe(const Replay& replay, ProcessFindings* findings) override;

  // Returns the profile. Call it once, after the replay.
  StepProfile Take() { return std::move(profile_); }

 private:
  void Choose();
  void DescribeSite(size_t number, ProfileSite* to);
  void AddSurvivors(const DiffSite& site, SiteWindows* windows) const;
  void AddLeaks(const LeakSites& leaks);

  ProcessAnalysis& analysis_;
  const std::vector<DiffSite> sites_;
  std::vector<size_t> kept_;  // ascending indices of sites_
  std::optional<StepMeter> meter_;
  std::optional<EventDigest> digest_;
  StepProfile profile_;
};

// Makes the profile with one more replay.
StepProfile MakeStepProfile(ProcessAnalysis* analysis);

// Returns a hash of all sites of a process in their order. Processes with the same hash number their events alike.
uint64_t HashOfSites(const std::vector<DiffSite>& sites);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_MAKE_STEP_PROFILE_H_
