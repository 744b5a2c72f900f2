// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/site_finder.h"

#include <cstdio>

#include "analyzer/ledger/kind.h"

namespace vramtrack::corpus {

SiteFinder::SiteFinder(const std::vector<SiteRecord>& sites) {
  for (uint32_t i = 0; i < sites.size(); ++i) by_name_[{vramtrack::KindName(sites[i].kind), sites[i].token}] = i;
}

std::optional<uint32_t> SiteFinder::Find(const std::string& kind, const std::vector<ReportFrame>& frames) const {
  for (const ReportFrame& frame : frames) {
    char offset[20];
    std::snprintf(offset, sizeof offset, "%llx", static_cast<unsigned long long>(frame.offset));
    for (const std::string& token : {frame.function, std::string(offset)}) {
      const auto found = by_name_.find({kind, token});
      if (found != by_name_.end()) return found->second;
    }
  }
  return std::nullopt;
}

}  // namespace vramtrack::corpus
