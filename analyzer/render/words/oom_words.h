// SPDX-License-Identifier: Apache-2.0
//
// What is said of a failed allocation, without a layout.
#ifndef ANALYZER_RENDER_WORDS_OOM_WORDS_H_
#define ANALYZER_RENDER_WORDS_OOM_WORDS_H_

#include <string>

#include "analyzer/model/oom_lines.h"
#include "analyzer/model/report.h"

namespace vramtrack {

struct OomWords {
  std::string request;    // "20.0 GiB requested, 3.00 GiB free on device 0 at step 12"
  std::string cause;      // too little was free, or enough but in pieces
  std::string pool;       // why a hole is of no use; empty: that is not the reason
  std::string answer;     // who held the memory: the leaks, or the line that held most; empty: no line held much
  std::string framework;  // the state of the allocator that gave up; empty: it was not one
  std::string setting;    // with which it would have fit, and how far; empty: none is known, or a leak would fill it
  std::string change;     // what was different from the step before; empty: no step succeeded
  std::vector<OomLine> holders, grown;  // lines that held the memory, and those that hold more than before
};
OomWords WordsOf(const Report& report, const ReportOom& oom, const OomLines& lines);

// Returns who held the memory; without an answer, the most that a line held.
std::string WhoHeld(const OomWords& words);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_WORDS_OOM_WORDS_H_
