// SPDX-License-Identifier: Apache-2.0
//
// What no statistics can know: facts about programs and the world that change what a judgement means. They are one
// list, in order. docs/leak-verdicts.md has the same list; a test compares the two.
#ifndef ANALYZER_VERDICTS_FACTS_H_
#define ANALYZER_VERDICTS_FACTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/verdicts/line_verdict.h"
#include "analyzer/verdicts/run_verdicts.h"

namespace vramtrack {

// What the facts about lines are asked of.
class FactFinder {
 public:
  // `run` must outlive it.
  FactFinder(const ReplayedRun& run, const std::vector<RunPhase>& phases);

  // Looks at all verdicts of one phase, before any is changed: what lines do together.
  void LookAt(const std::vector<LineVerdict>& verdicts);

  const ReplayedRun& run() const { return run_; }
  const RunPhase& PhaseOf(const LineVerdict& verdict) const { return phases_[verdict.phase]; }
  const Book& BookOf(const LineVerdict& verdict) const { return run_.growth.books()[verdict.line.book]; }
  bool in_python() const { return in_python_; }
  // Returns the site with most of the verdict's live bytes.
  const Site& MainSite(const LineVerdict& verdict) const;
  // Returns how many of the objects that were freed after the last step had allocations since the one before. `sites`:
  // ascending.
  uint64_t FreedInTurn(const std::vector<SiteIndex>& sites) const;
  // Returns whether the job did much, or went on for long, after the last step.
  bool GoesOn(const LineVerdict& verdict) const;
  // Returns the bytes by which lines of the book that fall steadily shrank, and by which its leaks grew.
  double ShrunkIn(uint32_t book) const;
  double LeakedIn(uint32_t book) const;
  // Returns whether the sizes, or the numbers, of what steps allocate before the verdict's objects grow along with
  // them.
  bool GrowsWithInputs(const LineVerdict& verdict) const;
  double LostShare(const LineVerdict& verdict) const;

 private:
  struct Sizes {
    double bytes = 0, numbers = 0;  // late over early; 0: unknown
  };
  struct Regular {
    SiteIndex site;
    Sizes sizes;
  };
  Sizes SizesOf(const std::vector<SiteIndex>& sites) const;

  const ReplayedRun& run_;
  const std::vector<RunPhase>& phases_;
  const bool in_python_;  // some of the memory is a Python program's
  bool works_on_ = false, lasts_longer_ = false;
  std::map<uint32_t, double> shrunk_, leaked_;        // by book
  std::map<uint32_t, std::vector<Regular>> regular_;  // sites that allocate in most steps, by book
};

struct Fact {
  const char* id;
  // Returns whether the fact holds for a leak, which is not sure then. May set a text that takes the place of "%" in
  // the sentence.
  bool (*holds)(const FactFinder& facts, const LineVerdict& verdict, std::string* detail);
  const char* sentence;
};

// All facts about lines, in the order in which they are asked. The first that holds decides.
const std::vector<Fact>& LineFacts();

// Changes the verdict if a fact holds for it. May be called for any verdict.
void ApplyFacts(const FactFinder& facts, LineVerdict* verdict);

// Returns why so much of the record is missing that nothing can be said of a whole run; empty if it is not.
std::string WhyIncomplete(const Trace& trace, const Ledger& ledger);

// Why a run without a known leak may have one all the same.
struct Reason {
  const char* id;
  std::string sentence;
};

// Returns the reason that is given if too much of the record is missing. `why` says what is missing.
Reason IncompleteRecord(const std::string& why);

// Returns a reason for each fact about the run as a whole that holds, in the order of the list.
std::vector<Reason> RunReasons(const ReplayedRun& run, const RunVerdicts& verdicts, const RunShape& shape);
// Returns the ids of these facts, in order.
std::vector<const char*> RunFactIds();

}  // namespace vramtrack

#endif  // ANALYZER_VERDICTS_FACTS_H_
