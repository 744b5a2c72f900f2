// SPDX-License-Identifier: Apache-2.0
//
// The output formats of `check`, for people and for the services that run it. The same findings give the same bytes.
#ifndef ANALYZER_RENDER_CHECK_CHECK_OUTPUT_H_
#define ANALYZER_RENDER_CHECK_CHECK_OUTPUT_H_

#include <string>

#include "analyzer/model/check_report.h"

namespace vramtrack {

// What the status of a finding is called, by those who read it.
struct StatusWords {
  const char *text, *json, *github, *sarif;
};
const StatusWords& WordsOf(CheckFinding::Status status);

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

// Returns the result and its reason, such as "failed: 2 findings against 1 rule of 9 (38 sites, 60 steps, 1 device)";
// the other results are "passed" and "not enough evidence".
std::string CheckTotals(const CheckReport& report);

// Returns the finding without its place: "leak: Attention::Forward leaks 768 KiB per step ...".
std::string CheckSentence(const CheckFinding& finding);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_CHECK_CHECK_OUTPUT_H_
