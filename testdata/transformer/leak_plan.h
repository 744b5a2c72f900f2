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

// Returns the name for the command line, such as "loss-graph".
const char* LeakName(Leak leak);
std::vector<Leak> AllLeaks();

// Decides in which steps a program leaks memory, and records what it leaked.
class LeakPlan {
 public:
  // Each of `leaks` is due in step `onset` and in every `every`th step after it. Steps count from 1.
  LeakPlan(std::vector<Leak> leaks, uint64_t every, uint64_t onset);

  void BeginStep(uint64_t step);
  bool Due(Leak leak) const;

  // Records that `kept` was leaked in this step. Every non-empty buffer that it visits counts for the line that created
  // it.
  template <typename Kept>
  void Note(Leak leak, const Kept& kept) {
    kept.VisitBuffers([this, leak](size_t bytes, SourceLine where) {
      if (bytes > 0) Record(leak, bytes, where);
    });
  }

  uint64_t bytes_noted(Leak leak) const;

  // Prints a line "planted leak: FAMILY FILE:LINE BYTES bytes/step" for each source line that leaks, and a line
  // "planted total: FAMILY BYTES bytes/step" for each family. BYTES is the recorded bytes divided by `steps`.
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
