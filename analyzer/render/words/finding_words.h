// SPDX-License-Identifier: Apache-2.0
//
// What is said of one finding, without a layout.
#ifndef ANALYZER_RENDER_WORDS_FINDING_WORDS_H_
#define ANALYZER_RENDER_WORDS_FINDING_WORDS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Returns what the program calls a leak's memory, what it does when it allocates it, and how it uses it, as NVTX and
// CUPTI recorded it: one sentence each.
std::vector<std::string> UseSentences(const ReportSite& site);

// Sets the texts of the report's sites: what each leaves behind, and the site in one line.
void DescribeInWords(Report* report);

// A site that does not leak, but is worth a look: "grows, but slows down, 2.00 MiB live after the last step".
struct FurtherFinding {
  const ReportSite* site;
  std::string what;
};
std::vector<FurtherFinding> FurtherFindings(const Report& report);

struct LeakPart {
  const ReportSite* site = nullptr;
  // The frame that distinguishes it from the other sites of its leak; null without frames.
  const ReportFrame* place = nullptr;
};

// One line of a leak, and what its sites leave behind together.
struct LineOfLeak {
  std::string place, rate;
  bool notable = false;  // it has a twentieth of what leaks or more
  std::vector<const ReportSite*> sites;
};

// The sites that make up a leak. The report must outlive it.
class LeakParts {
 public:
  explicit LeakParts(const Report& report);

  // Returns the parts, largest first, including `leader`, a site of the report. Returns only `leader` if it leads no
  // other site.
  std::vector<LeakPart> Of(const ReportSite& leader) const;

  // Returns the same by line, the largest sum first.
  std::vector<LineOfLeak> LinesOf(const ReportSite& leader) const;

 private:
  const Report& report_;
  std::map<size_t, std::vector<size_t>> members_;
};

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_WORDS_FINDING_WORDS_H_
