// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CORPUS_SITE_FINDER_H_
#define TESTS_CORPUS_SITE_FINDER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/report.h"
#include "tests/corpus/job_stream.h"

namespace vramtrack::corpus {

// Finds the site of a run that an entry of a report is about, by kind and by what is unique in its stack.
class SiteFinder {
 public:
  explicit SiteFinder(const std::vector<SiteRecord>& sites);

  std::optional<uint32_t> Find(const std::string& kind, const std::vector<ReportFrame>& frames) const;
  std::optional<uint32_t> Find(const ReportSite& site) const { return Find(site.kind, site.frames); }

 private:
  std::map<std::pair<std::string, std::string>, uint32_t> by_name_;
};

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_SITE_FINDER_H_
