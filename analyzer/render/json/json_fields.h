// SPDX-License-Identifier: Apache-2.0
//
// The parts of the report as JSON, for what holds them in another order than its text.
#ifndef ANALYZER_RENDER_JSON_JSON_FIELDS_H_
#define ANALYZER_RENDER_JSON_JSON_FIELDS_H_

#include "analyzer/model/report.h"
#include "analyzer/render/json/json_values.h"

namespace vramtrack {

// A site without its frames.
Json SiteFields(const ReportSite& site);

// The report with `sites` in the place of its sites.
Json ReportFields(const Report& report, Json sites);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_JSON_JSON_FIELDS_H_
