// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_LEAKS_POOL_REMARKS_H_
#define ANALYZER_FINDINGS_LEAKS_POOL_REMARKS_H_

#include <cstdint>
#include <map>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Counts how often PyTorch's pinned-memory pool grew, by the code that made it grow. The pool is one site.
// Thread-compatible.
class PinnedPoolGrowth final : public ReplayObserver {
 public:
  // `trace` must outlive it.
  explicit PinnedPoolGrowth(const Trace& trace) : trace_(trace) {}

  const std::map<StackIndex, uint64_t>& by_stack() const { return by_stack_; }

  unsigned frequent_calls() const override { return kAllocations; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;

 private:
  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  std::map<StackIndex, uint64_t> by_stack_;
};

// Adds to the explanation of a leak of segments for CUDA graphs what they are, and to that of PyTorch's pinned-memory
// pool why no line is named.
void AddPoolRemark(const PinnedPoolGrowth& growth, const SiteKey& key, StackSymbolizer* symbolizer, ReportSite* site);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_POOL_REMARKS_H_
