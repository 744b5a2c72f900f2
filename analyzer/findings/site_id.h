// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_SITE_ID_H_
#define ANALYZER_FINDINGS_SITE_ID_H_

#include <string>

#include "analyzer/report.h"

namespace vramtrack {

// What a site's id is made of: nothing that moving lines or another run would change.
std::string SiteIdentity(const ReportSite& site);

// Eight hexadecimal digits. Sites whose functions are the same share them.
std::string SiteId(const ReportSite& site);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_SITE_ID_H_
