// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_ANSWER_HTML_H_
#define ANALYZER_RENDER_HTML_ANSWER_HTML_H_

#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

// The answer in a line, without markup: the title of the page.
std::string PageTitle(const Report& report);

// What failed for want of memory and what leaks, at which line, how fast and how sure that is; or that nothing does, or
// what is missing to tell. It is there before any script runs.
std::string AnswerHtml(const Report& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_ANSWER_HTML_H_
