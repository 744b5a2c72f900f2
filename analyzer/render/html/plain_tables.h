// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_PLAIN_TABLES_H_
#define ANALYZER_RENDER_HTML_PLAIN_TABLES_H_

#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

// Tables of leaks, peaks, ranks and sites as markup alone: for browsers without scripts, and builds without the bundle.
std::string PlainTables(const Report& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_PLAIN_TABLES_H_
