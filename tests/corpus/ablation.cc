// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/ablation.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/leaks/prior.h"
#include "analyzer/verdicts/facts.h"
#include "tests/corpus/suites.h"

namespace vramtrack::corpus {
namespace {

constexpr double kNone = 1e-9;  // a weight of nothing

struct Number {
  const char* name;
  double Prior::*value;
  double off;
};
constexpr Number kNumbers[] = {
    {"odds", &Prior::odds, 3},
    {"replaced", &Prior::replaced, 1},
    {"one_time", &Prior::one_time, 1},
    {"accident", &Prior::accident, kNone},
    {"filled", &Prior::filled, kNone},
    {"filling", &Prior::filling, kNone},
    {"filling_drops", &Prior::filling_drops, 1},
    {"unfreed", &Prior::unfreed, kNone},
    {"accelerating", &Prior::accelerating, kNone},
    {"changing", &Prior::changing, kNone},
    {"from_setup", &Prior::from_setup, 1 - kNone},
    {"patterned", &Prior::patterned, kNone},
    {"accidents", &Prior::accidents, 1000},
    {"keepers", &Prior::keepers, 1 / kNone},
};

Ablation Compare(const std::vector<RunScore>& before, const std::vector<RunScore>& after) {
  Ablation result;
  for (size_t i = 0; i < before.size(); ++i) {
    const Detection &was = before[i].ours, &is = after[i].ours;
    const bool more_false = is.false_sites > 0 && was.false_sites == 0;
    result.lost += was.found && !is.found;
    result.found += is.found && !was.found;
    result.false_leaks += more_false;
    result.other += was.found == is.found && !more_false &&
                    (before[i].said != after[i].said || before[i].classes != after[i].classes);
  }
  return result;
}

}  // namespace

std::vector<Ablation> Ablate(const std::vector<RunSpec>& runs, int threads) {
  const std::vector<RunScore> base = RunAll(runs, threads);
  std::vector<Ablation> all;
  const auto without = [&](std::string rule, std::string off, const AnalyzeOptions& options) {
    all.push_back(Compare(base, RunAll(runs, threads, nullptr, options)));
    all.back().rule = std::move(rule);
    all.back().off = std::move(off);
  };
  for (const Number& number : kNumbers) {
    AnalyzeOptions options;
    options.prior.*number.value = number.off;
    without(number.name, number.off == kNone ? "0" : number.off > 1e6 ? "none" : absl::StrCat(number.off), options);
  }
  AnalyzeOptions few_hits;
  few_hits.prior.pattern_hits = 9;
  without("pattern_hits", "9", few_hits);
  std::vector<const char*> facts = RunFactIds();
  for (const Fact& fact : LineFacts()) facts.push_back(fact.id);
  for (const char* fact : facts) {
    AnalyzeOptions options;
    options.without_fact = fact;
    without(fact, "not asked", options);
  }
  return all;
}

}  // namespace vramtrack::corpus
