// SPDX-License-Identifier: Apache-2.0
//
// What the figures of a failed allocation say by line of the code: sites of the same line, or of the same leak, are one
// line.
#ifndef ANALYZER_MODEL_OOM_LINES_H_
#define ANALYZER_MODEL_OOM_LINES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/report.h"
#include "analyzer/model/site_places.h"

namespace vramtrack {

struct OomLine {
  ReportSiteIndex site;  // the site that was named first; of a leak, the site that leads it
  std::string place;     // location and function
  bool leak = false;
  uint64_t sites = 0;
  uint64_t then = 0, now = 0;  // bytes
};

// The report must outlive this object.
class OomLines {
 public:
  explicit OomLines(const Report& report);

  // Returns the lines of `changes`, what grew most first.
  std::vector<OomLine> Of(const std::vector<ReportOom::Change>& changes) const;
  // Returns the lines that held the memory, the most first: `then` is 0, `now` is what they held.
  std::vector<OomLine> Holders(const ReportOom& oom) const;
  // Returns who held the memory, if the leaks or one line held much of it.
  std::optional<ReportOom::Answer> AnswerOf(const ReportOom& oom) const;

 private:
  const Report& report_;
  SitePlaces places_;
};

// Who is to blame for a failed allocation: "train.py:43 in evaluate leaked 7.50 of 8.00 GiB by step 68".
struct OomHeadline {
  std::string text;
  bool names_line = false;  // of the code; otherwise nobody in particular is known to have filled the device
};
OomHeadline HeadlineOf(const Report& report, const ReportOom& oom, const OomLines& lines);

// Returns the bytes that were held when it failed: by category or by site, whichever is more.
uint64_t HeldBytes(const ReportOom& oom);

// Returns whether the device had room for what a framework's allocator asked of it: something else forbade it, and
// would do so with other settings of the allocator.
bool DeviceHadRoom(const ReportOom& oom);

// Sets the answers of all failed allocations. The sites of the report must have their ids.
void AnswerFailures(Report* report);

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_OOM_LINES_H_
