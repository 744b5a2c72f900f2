// SPDX-License-Identifier: Apache-2.0
//
// The cohort survivor test: does a site leave something behind in step after step?
//
// The slope of live bytes answers badly: batches of varying size, collectors, ramps and whatever is alive in the last
// step all look like growth. Instead, objects are grouped by the step of their birth, and what counts is how much of
// each group is alive at the end, over steps old enough that an ordinary object of the site would be gone.
// docs/leak-verdicts.md tells the whole of it.
#ifndef ANALYZER_LEAKS_COHORT_H_
#define ANALYZER_LEAKS_COHORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/leaks/buffer_growth.h"
#include "analyzer/leaks/bursts.h"
#include "analyzer/leaks/multiple_testing.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/trend.h"
#include "analyzer/leaks/windows.h"
#include "analyzer/model/enums.h"

namespace vramtrack {

// What a driver-level site has to do with a framework's allocator.
enum class SegmentRole {
  kNone,              // nothing, or the trace has no framework level
  kFrameworkFlat,     // its objects are the allocator's segments; what the allocator hands out does not grow
  kFrameworkGrowing,  // its objects are the allocator's segments; what the allocator hands out grows
};

struct SiteContext {
  SegmentRole segments = SegmentRole::kNone;
};

// The numbers that decided. Steps are indices.
struct LeakEvidence {
  StepSpan tested;                  // the steps that were judged
  StepSpan leaking;                 // of these, from the onset on; equal to `tested` if no onset was seen
  Step censor_margin = 0;           // steps left out at the end
  uint32_t max_lifetime_steps = 0;  // of objects that were freed
  SurvivorTotal survivors;          // in `tested`
  uint64_t survivors_before = 0;    // objects born in warm-up and kept
  uint32_t windows = 0, windows_with_survivors = 0;
  double occurrences = 0;  // steps with survivors in `leaking`
  TrendEvidence trend;
  Bursts bursts;
  Period period;                // of the survivors
  bool joint = false;           // of several stacks that are one site to the reader: their history is one
  bool may_be_filling = false;  // a cache could have left as much in so few steps
  BufferGrowth buffer;          // kNone unless it decided
};

struct LeakVerdict {
  Verdict verdict = Verdict::kSteady;
  std::string explanation;  // one sentence, in the job's own step numbers
  // Of what stays behind. Zero unless something is left behind in the tested steps.
  double rate_bytes_per_step = 0;
  double rate_objects_per_step = 0;
  double rate_ci_low = 0, rate_ci_high = 0;  // bytes per step, 95 %
  std::optional<Step> onset_step;            // index; leaks only: the first step that left something, if after warm-up
  double p_value = 1;                        // of a site that leaves objects behind only now and then, by accident
  Step further_steps_needed = 0;             // of insufficient_evidence
  LeakEvidence evidence;
};

enum class JudgeDetail {
  kWhole,
  kVerdict,  // without explanation and interval of the rate, unless it is a leak; much faster
};

// Pure and deterministic.
LeakVerdict JudgeSite(const SiteHistory& history, const RunShape& run, const SiteContext& context = {},
                      JudgeDetail detail = JudgeDetail::kWhole);

// To be called once with the verdicts of all sites of a run: leaks that chance explains, given how many sites were
// tested, become insufficient_evidence. A leak in every step is never among them.
void DemoteChanceFindings(std::vector<LeakVerdict>* verdicts, double false_discovery_rate = kFalseDiscoveryRate);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_COHORT_H_
