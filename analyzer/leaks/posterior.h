// SPDX-License-Identifier: Apache-2.0
//
// Decides whether what is left behind goes on without end. Explicit models of what a line may do (leak, set up once,
// fill a cache, free later) are compared by how likely each makes the evidence, with everything that is not known
// integrated out: when set-up ended, when the leak began, how often it leaks, how long ordinary objects live. The
// result is the odds of a leak. docs/leak-verdicts.md has the formulas.
#ifndef ANALYZER_LEAKS_POSTERIOR_H_
#define ANALYZER_LEAKS_POSTERIOR_H_

#include <array>
#include <cstddef>

#include "analyzer/leaks/prior.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {

enum class Model : uint8_t {
  kLeak,          // goes on at one rate, at random or in a pattern
  kAccelerating,  // goes on at a rate that grows
  kOneTime,       // set-up, and nothing since
  kAccident,      // a few objects at any time
  kFilled,        // went on for a while and stopped
  kFilling,       // goes on ever more slowly
  kUnfreed,       // goes on, and will be freed
};
constexpr size_t kModels = 7;

struct Posterior {
  std::array<double, kModels> log_weight;  // of each model, not normalized
  double log_odds = 0;                     // of a leak, constant or accelerating, against all others
  Model likeliest = Model::kOneTime;       // leaks included
  Model alternative = Model::kOneTime;     // the likeliest that is not a leak
  Step begin = 0;                          // the likeliest first step of the leak
  bool onset = false;                      // it began after set-up, with an object in step `begin`

  bool is_leak(const Prior& prior = {}) const;
  bool is_clean(const Prior& prior = {}) const;
  // Of a leak: surely not at one rate.
  bool accelerates(const Prior& prior = {}) const;
};

// Returns the odds of a leak. `evidence.any()` must hold. `keepers`: how many lines of the run keep something after
// set-up; among many, accidents are likelier. Pure and deterministic. Takes up to some milliseconds; less if the
// evidence speaks clearly against a leak.
Posterior JudgeEvidence(const Evidence& evidence, double keepers = 0, const Prior& prior = {});

// Returns the largest power of two n for which a leak of one object in each n-th of so many steps would be sure; 0: not
// even one in each step would. Takes as long as some calls of JudgeEvidence.
Step RarestLeak(Step steps, const Prior& prior = {});

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_POSTERIOR_H_
