// SPDX-License-Identifier: Apache-2.0
//
// What is said of a finding (a leak, a failed allocation, ranks that are unlike the others), without a layout; and what
// each verdict is called, in every output.
#ifndef ANALYZER_RENDER_WORDS_FINDING_WORDS_H_
#define ANALYZER_RENDER_WORDS_FINDING_WORDS_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/oom_lines.h"
#include "analyzer/model/report.h"
#include "analyzer/model/site_places.h"

namespace vramtrack {

struct VerdictWords {
  const char* name;  // "leak", "slows down", "may leak"; at most 17 columns
  const char* does;  // as a predicate: "grows, but slows down"; of a leak before its rate: "leaks "; empty: nothing
};
const VerdictWords& WordsOf(Verdict verdict);

// Returns "LEAK", "MINOR LEAK", "ACCELERATING LEAK" or "GROWING BUFFER".
std::string LeakTitle(const ReportSite& site);

// Returns the state of a site: "leak", "may leak", "slows down", "steady".
std::string StateText(const Report& report, const ReportSite& site);

// Returns how a verdict is to be taken: "bad", "good" or "unsure".
const char* ToneOf(Verdict verdict);

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

struct OomWords {
  OomHeadline headline;  // who or what is to blame
  std::string request;   // "8.00 MiB for a tensor, 20.0 MiB asked of the driver; device 0 had 3.00 MiB free at step 12"
  std::string framework;  // the state of the allocator that gave up; empty: it was not one
  std::string setting;    // with which it would have fit, and how far; empty: none is known, or a leak would fill it
  std::string change;     // what was different from the step before; empty: no step succeeded
  std::vector<OomLine> holders, grown;  // lines that held the memory, and those that hold more than before
};
OomWords WordsOf(const Report& report, const ReportOom& oom, const OomLines& lines);

// Ranks that differ in the same things.
using DifferingRanks = std::vector<const ReportRank*>;

// Returns the ranks that differ from the others, in groups.
std::vector<DifferingRanks> RankGroups(const Report& report, const SitePlaces& places);

// Returns how a group differs, one reason each: "leaks ..., where most others do not"; with another verb of several.
std::vector<std::string> RankReasons(const Report& report, const SitePlaces& places, const DifferingRanks& group);

// Returns "rank 3 differs: it leaks ...; it peaks at ...".
std::string RankSentence(const Report& report, const SitePlaces& places, const DifferingRanks& group);

// Returns "rank 3", or "process 4711" in a job without ranks.
std::string RankName(const ReportRank& rank);

// Returns "4.00 to 5.00 MiB", or one value if both look alike.
std::string ByteSpan(const std::pair<double, double>& range);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_WORDS_FINDING_WORDS_H_
