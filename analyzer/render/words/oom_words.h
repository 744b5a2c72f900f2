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
  OomHeadline headline;  // who or what is to blame
  std::string request;   // "8.00 MiB for a tensor, 20.0 MiB asked of the driver; device 0 had 3.00 MiB free at step 12"
  std::string framework;  // the state of the allocator that gave up; empty: it was not one
  std::string setting;    // with which it would have fit, and how far; empty: none is known, or a leak would fill it
  std::string change;     // what was different from the step before; empty: no step succeeded
  std::vector<OomLine> holders, grown;  // lines that held the memory, and those that hold more than before
};
OomWords WordsOf(const Report& report, const ReportOom& oom, const OomLines& lines);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_WORDS_OOM_WORDS_H_
