// SPDX-License-Identifier: Apache-2.0
//
// The output formats of `check`, for people and for the services that run it. The same findings give the same bytes.
#ifndef ANALYZER_RENDER_CHECK_CHECK_OUTPUT_H_
#define ANALYZER_RENDER_CHECK_CHECK_OUTPUT_H_

#include <string>

#include "analyzer/model/check_report.h"

namespace vramtrack {

// Renders one line for each finding, then the totals.
std::string RenderCheckText(const CheckReport& report);

// Renders the JSON that docs/check.md describes.
std::string RenderCheckJson(const CheckReport& report);

// Renders workflow commands of GitHub Actions, one per line.
std::string RenderCheckGithub(const CheckReport& report);

// Renders JUnit XML with one test case for each rule.
std::string RenderCheckJunit(const CheckReport& report);

// Renders GitLab's code quality report, with findings that fail or warn.
std::string RenderCheckGitlab(const CheckReport& report);

// Renders SARIF 2.1.0.
std::string RenderCheckSarif(const CheckReport& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_CHECK_CHECK_OUTPUT_H_
