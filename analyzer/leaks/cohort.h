// SPDX-License-Identifier: Apache-2.0
//
// The cohort survivor test decides whether a site leaves objects behind in step after step.
//
// The slope of live bytes is a bad test: batches of varying size, garbage collectors, ramps and the objects of the last
// step all look like growth. Instead, this test groups objects by the step of their birth. It counts how many of each
// group are live at the end, for steps so old that an ordinary object of the site would be gone.
// docs/leak-verdicts.md has the complete description.
#ifndef ANALYZER_LEAKS_COHORT_H_
#define ANALYZER_LEAKS_COHORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/leaks/buffer_growth.h"
#include "analyzer/leaks/bursts.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/leaks/site_history.h"
#include "analyzer/leaks/statistics.h"
#include "analyzer/leaks/trend.h"
#include "analyzer/leaks/windows.h"
#include "analyzer/model/enums.h"

namespace vramtrack {

// The relation of a driver-level site to a framework's allocator.
enum class SegmentRole {
  kNone,              // not related, or the trace has no framework level
  kFrameworkFlat,     // its objects are the allocator's segments, and the bytes in blocks do not grow
  kFrameworkGrowing,  // its objects are the allocator's segments, and the bytes in blocks grow
};

// Fewer objects than this in a whole run are one-offs, whatever its steps are.
constexpr uint64_t kFewestRepeats = 4;

struct SiteContext {
  SegmentRole segments = SegmentRole::kNone;
  uint64_t allocations = 0;  // that the site made in the whole run, also where there are no steps; 0 if not known
};

// The numbers behind a verdict. Steps are indices.
struct LeakEvidence {
  StepSpan tested;                  // the steps that were judged
  StepSpan leaking;                 // the part of `tested` from the onset on; all of it if no onset was seen
  Step censor_margin = 0;           // number of steps left out at the end
  uint32_t max_lifetime_steps = 0;  // longest lifetime of objects that were freed
  SurvivorTotal survivors;          // in `tested`
  uint64_t survivors_before = 0;    // objects allocated in warm-up and never freed
  uint32_t windows = 0, windows_with_survivors = 0;
  double occurrences = 0;  // steps with survivors in `leaking`
  TrendEvidence trend;
  Bursts bursts;
  Period period;                      // of the survivors
  bool joint = false;                 // several stacks that a report shows as one site were judged together
  bool may_be_filling = false;        // a cache that fills could have left as much in so few steps
  bool may_be_freed_at_once = false;  // as all that was left before the first survivor
  BufferGrowth buffer;                // its trend is kNone unless it decided the verdict
};

struct LeakVerdict {
  Verdict verdict = Verdict::kSteady;
  std::string explanation;  // one sentence, in the job's own step numbers
  // Growth rate. Zero unless something is left behind in the tested steps.
  double rate_bytes_per_step = 0;
  double rate_objects_per_step = 0;
  double rate_ci_low = 0, rate_ci_high = 0;  // bytes per step, 95 %
  std::optional<Step> onset_step;            // index; leaks only: the first step that left something, if after warm-up
  // For insufficient_evidence that more steps do not settle: why, as a sentence without a full stop; empty: see the
  // explanation.
  std::string doubt;
  double p_value = 1;             // probability that a site leaves that much by chance; 1 unless it does so irregularly
  Step further_steps_needed = 0;  // for insufficient_evidence: how many more steps a verdict needs
  LeakEvidence evidence;
};

enum class JudgeDetail {
  kWhole,
  kVerdict,  // no explanation and no interval of the rate unless it is a leak; much faster
};

// Returns the verdict on one site. Pure and deterministic.
LeakVerdict JudgeSite(const SiteHistory& history, const RunShape& run, const SiteContext& context = {},
                      JudgeDetail detail = JudgeDetail::kWhole);

// Changes leaks that chance explains, given how many sites were tested, to insufficient_evidence. Must be called once,
// with the verdicts of all sites of a run. A site that leaks in every step is never changed.
void DemoteChanceFindings(std::vector<LeakVerdict>* verdicts, double false_discovery_rate = kFalseDiscoveryRate);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_COHORT_H_
