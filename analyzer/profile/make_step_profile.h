// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PROFILE_MAKE_STEP_PROFILE_H_
#define ANALYZER_PROFILE_MAKE_STEP_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/profile/event_sequence.h"
#include "analyzer/profile/step_meter.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// Limit of sites of a process. If there are more, those that allocated most are kept.
constexpr size_t kMaxProfileSites = 50000;

// Returns the profile of a process with all that is known before it is measured: no windows, devices, leaks, totals and
// categories.
StepProfile DescribeRun(ProcessAnalysis* analysis);

// Fills in the rest of a profile from DescribeRun() in a replay, either with a report's collectors, see
// FindInAnalysis, or alone. Memory: a few words for each site and window, and some for each step and device.
// Thread-compatible.
class ProfileMaker final : public Collector {
 public:
  // Measures the whole run, for a summary, and leaves only the most important sites. The same trace and options give
  // the same profile. Both arguments must outlive it.
  ProfileMaker(ProcessAnalysis* analysis, StepProfile* profile);
  // Measures the part of a run that is compared, StepProfile::blocks. A device's bins have `steps_in_bin` steps. Events
  // are numbered by the entry of `matches` that has their site; or by site if it is null.
  ProfileMaker(ProcessAnalysis* analysis, const std::vector<std::vector<size_t>>* matches, uint64_t steps_in_bin,
               StepProfile* profile);

  const char* name() const override { return profile_.blocks ? "comparison" : "step profile"; }
  void Prepare(Replay* detail) override;
  void Describe(const Replay& replay, ProcessFindings* findings) override;

  const EventSequence& sequence() const { return digest_.sequence(); }

 private:
  void AddRun(ProfileSite* site) const;

  ProcessAnalysis& analysis_;
  StepProfile& profile_;
  const uint64_t steps_in_bin_;
  const bool numbered_by_site_;
  EventDigest digest_;
  std::optional<StepMeter> meter_;
};

// Makes the profile for a summary with one more replay.
StepProfile MakeStepProfile(ProcessAnalysis* analysis);

// Returns the rows of the ledger's sites. `members`: for each row, indices of the profile's sites; null: each site is a
// row.
SiteRows RowsOf(const StepProfile& profile, const std::vector<std::vector<size_t>>* members, size_t ledger_sites);

}  // namespace vramtrack

#endif  // ANALYZER_PROFILE_MAKE_STEP_PROFILE_H_
