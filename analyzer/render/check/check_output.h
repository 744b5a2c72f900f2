// SPDX-License-Identifier: Apache-2.0
//
// What `check` found, for people and for the services that run it. Each is the same for the same findings.
#ifndef ANALYZER_RENDER_CHECK_CHECK_OUTPUT_H_
#define ANALYZER_RENDER_CHECK_CHECK_OUTPUT_H_

#include <string>

#include "analyzer/model/check_report.h"

namespace vramtrack {

// One line a finding, then the totals.
std::string RenderCheckText(const CheckReport& report);

// docs/check.md describes it.
std::string RenderCheckJson(const CheckReport& report);

// Workflow commands of GitHub Actions, one a line.
std::string RenderCheckGithub(const CheckReport& report);

// A test case for each rule.
std::string RenderCheckJunit(const CheckReport& report);

// GitLab's code quality report: what fails or warns.
std::string RenderCheckGitlab(const CheckReport& report);

// SARIF 2.1.0.
std::string RenderCheckSarif(const CheckReport& report);

// "failed", "passed" or "not enough evidence", and why: "2 of 3 findings fail: ...".
std::string CheckTotals(const CheckReport& report);

// The finding without what it is about a place: "leak: Attention::Forward leaks 768 KiB per step ...".
std::string CheckSentence(const CheckFinding& finding);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_CHECK_CHECK_OUTPUT_H_
