// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_SITE_REFERENCES_H_
#define ANALYZER_JOB_SITE_REFERENCES_H_

#include <cstddef>
#include <functional>
#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

// What findings name sites by is an index until the sites of the whole job have ids: gives the new name of one.
using SiteNamer = std::function<std::string(size_t index)>;

// Renames all sites that a part of the findings refers to.
void RenameSites(const SiteNamer& name, ReportDevice* device);
void RenameSites(const SiteNamer& name, ReportTimeline* timeline);
void RenameSites(const SiteNamer& name, ReportPeakLines* lines);
void RenameSites(const SiteNamer& name, ReportPeakStacks* stacks);
void RenameSites(const SiteNamer& name, ReportOom* oom);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_SITE_REFERENCES_H_
