// SPDX-License-Identifier: Apache-2.0
//
// What `check` looks for: the one table of its rules.
#ifndef ANALYZER_MODEL_RULES_H_
#define ANALYZER_MODEL_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace vramtrack {

struct CheckRule {
  const char* id;
  const char* title;  // a phrase for a list: "Memory leak"
  const char* text;   // a sentence
  bool of_baseline;   // applies only with a baseline
};
extern const std::vector<CheckRule> kCheckRules;

// Null if there is none.
const CheckRule* FindRule(std::string_view id);

// All ids, with commas.
std::string RuleNames();

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_RULES_H_
