// SPDX-License-Identifier: Apache-2.0
//
// What a comparison of two emulated runs gets right, where what was edited is known.
#ifndef TESTS_CORPUS_DIFF_SCORE_H_
#define TESTS_CORPUS_DIFF_SCORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/corpus/emulation.h"

namespace vramtrack::corpus {

// One comparison to be made. The job of both runs is the same, but for what is said here.
struct DiffSpec {
  std::string id;  // of the edit
  uint64_t seed = 0;
  int steps = 100;
  JobShape shape;
  Naming naming;           // of the new run
  uint64_t chance = 0;     // of the new run
  bool changes = false;    // the new run has one site more, one less, and one that allocates half as much again
  bool summaries = false;  // of both runs are compared, not the traces
};

struct DiffScore {
  bool comparable = true, identical = false;
  int sites = 0;                   // of the new run
  int edited = 0, unmatched = 0;   // sites whose functions were edited; of these, called new or gone
  int moved = 0, moved_right = 0;  // called moved; of these, with the right counterpart
  int changes = 0, found = 0;      // what was changed, and found as what it is
  int false_findings = 0;          // new, gone, grown or shrunk without reason
  std::vector<std::string> said;   // of false findings and of changes not found
};

DiffScore ScoreDiff(const DiffSpec& spec);

// Runs compared with themselves, with another day's run, and with edited code; each with so many jobs. Of summaries
// with more steps, which they know four by four.
std::vector<DiffSpec> DiffRuns(int seeds, bool summaries);

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_DIFF_SCORE_H_
