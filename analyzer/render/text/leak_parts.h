// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_LEAK_PARTS_H_
#define ANALYZER_RENDER_TEXT_LEAK_PARTS_H_

#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

struct LeakPart {
  const ReportSite* site = nullptr;
  const ReportFrame* place = nullptr;  // tells it from the other sites of its leak; null without frames
};

// The sites that make up a leak. The report must outlive it.
class LeakParts {
 public:
  explicit LeakParts(const Report& report);

  // Largest first, `leader` among them; only that one where it leads no other.
  std::vector<LeakPart> Of(const ReportSite& leader) const;

 private:
  std::unordered_map<std::string_view, std::vector<const ReportSite*>> parts_;  // by the id of who leads
};

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_LEAK_PARTS_H_
