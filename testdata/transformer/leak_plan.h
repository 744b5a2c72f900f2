// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_LEAK_PLAN_H_
#define TESTDATA_TRANSFORMER_LEAK_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "testdata/transformer/source_line.h"

namespace transformer {

enum class Leak {
  kLossGraph,
  kAttentionCache,
  kKvCache,
  kBatchReferences,
  kGradientBuffers,
  kWorkspace,
  kPinnedStaging,
};

// "loss-graph" and so on, in the order of the enumeration.
const char* LeakName(Leak leak);
std::vector<Leak> AllLeaks();

// Says in which steps a program is to keep what it should let go, and records what it kept.
class LeakPlan {
 public:
  // Each of `leaks` is due in step `onset` and in every `every`th step from there; steps count from 1.
  LeakPlan(std::vector<Leak> leaks, uint64_t every, uint64_t onset);

  void BeginStep(uint64_t step);
  bool Due(Leak leak) const;

  // `kept` has been leaked in this step: every non-empty buffer that it visits is recorded under the line that made it.
  template <typename Kept>
  void Note(Leak leak, const Kept& kept) {
    kept.VisitBuffers([this, leak](size_t bytes, SourceLine where) {
      if (bytes > 0) Record(leak, bytes, where);
    });
  }

  uint64_t bytes_noted(Leak leak) const;

  // One line "planted leak: FAMILY FILE:LINE BYTES bytes/step" for each line that leaks and one "planted total: FAMILY
  // BYTES bytes/step" for each family; BYTES is what was noted, divided by `steps`.
  void Print(uint64_t steps, std::FILE* out) const;

 private:
  void Record(Leak leak, size_t bytes, SourceLine where);

  const std::vector<Leak> leaks_;
  const uint64_t every_;
  const uint64_t onset_;
  uint64_t step_ = 0;
  std::map<std::tuple<Leak, std::string, int>, uint64_t> noted_;  // bytes
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_LEAK_PLAN_H_
