// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/findings/leaks/leak_groups.h"
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

// Adds to the sites of a process which leak each belongs to, and the figures of the leak as a whole.
class LeakFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit LeakFindings(ProcessAnalysis* analysis);

  const char* name() const override { return "leaks"; }
  void Prepare(Replay* detail) override;
  // Also adds what the steps left live and sets the units of rates, which are per step before this call.
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  ReportLeak Sum(const LeakGroup& leak, const std::vector<ReportSite>& sites) const;
  bool IsMaterialTogether(const LeakGroup& leak, const ReportLeak& whole) const;
  std::vector<SiteIndex> SitesOf(const std::vector<size_t>& groups) const;
  // Returns those of their sites whose bytes count to the same total.
  std::vector<SiteIndex> WatchedSitesOf(const std::vector<size_t>& groups) const;
  bool IsGraphPool(size_t group) const;
  // Returns whether the group's blocks are in the segments of one of the other groups.
  bool IsWithinPools(size_t group, const std::vector<size_t>& others) const;

  ProcessAnalysis& analysis_;
  PinnedPoolGrowth pool_;
  const std::vector<LeakGroup> leaks_;
  std::map<size_t, size_t> watched_;  // the counterfactuals of leaks with several parts, by the leading group
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_
