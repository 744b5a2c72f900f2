// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_CHANGE_FINDINGS_H_
#define ANALYZER_DIFF_CHANGE_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/attribution/blame.h"
#include "analyzer/diff/compared_pair.h"
#include "analyzer/diff/site_comparison.h"
#include "analyzer/diff/site_ids.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

// Makes findings from changes: one for each site or leak. Thread-compatible; all arguments must outlive it.
class ChangeFindings {
 public:
  // `report` has the unit of rates, and whether changes were tested. The sites of findings are keys of the ids.
  ChangeFindings(const ComparedPair& pair, DiffSiteIds* base_ids, DiffSiteIds* next_ids, DiffReport* report)
      : pair_(pair), base_ids_(*base_ids), next_ids_(*next_ids), report_(*report) {}

  // Adds the findings. `changes` has one entry for each match.
  void Add(const std::vector<SiteChange>& changes);

 private:
  // For changes of rates: the leak that the site belongs to, in the run in which it leaks more.
  struct LeakOf {
    bool of_next;
    uint64_t leak;  // index of StepProfile::leaks
    ChangeUnit unit;

    bool operator<(const LeakOf& other) const {
      return std::tie(of_next, leak, unit) < std::tie(other.of_next, other.leak, other.unit);
    }
  };

  void FindBlame(const std::vector<SiteChange>& changes);
  bool Moved(const SiteMatch& match) const;
  // Matches are given by their index.
  DiffFinding Begin(size_t m);
  DiffFinding Describe(size_t m, const SiteChange& change);
  std::string Explain(const SitePair& evidence, const SiteChange& change) const;
  std::optional<LeakOf> LeakOfChange(const SiteMatch& match, const SiteChange& change) const;
  const ProfileLeak& LeakNamed(const LeakOf& leak) const;
  bool Leads(const LeakOf& leak, size_t m) const;
  void AddFinding(size_t m, DiffFinding finding);
  void AddLeak(const LeakOf& leak, std::vector<size_t> members, const std::vector<SiteChange>& changes);
  void AddMove(size_t m);

  const ComparedPair& pair_;
  DiffSiteIds &base_ids_, &next_ids_;
  DiffReport& report_;
  BlameFinder base_blame_, next_blame_;
};

// Finds out whether two processes allocated and freed the same in the same order, and where they diverge, as far as
// that is known. Call it after MeasureSteps().
void CompareSequences(const ComparedPair& pair, DiffReport* report);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_CHANGE_FINDINGS_H_
