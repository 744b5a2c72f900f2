// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/check_report.h"

namespace vramtrack {

const std::vector<CheckRule> kCheckRules = {
    {"leak", "Memory leak", "A site leaves memory behind in step after step.", false},
    {"oom", "Out of memory", "An allocation failed because memory was missing, and the job did not go on.", false},
    {"leak-total", "Leaks in all", "What all sites leak together is more than the budget.", false},
    {"peak", "Peak of live memory", "More is live at the peak than the budget.", false},
    {"reserved", "Reserved memory", "More is taken from the device at the peak than the budget.", false},
    {"device-used", "Memory used on the device", "More is used on the device at the peak than the budget.", false},
    {"growth", "Growth", "Live memory grows faster than the budget.", false},
    {"fragmentation", "Fragmentation", "More is reserved and not live at the peak than the budget.", false},
    {"time-to-oom", "Time to out of memory",
     "The device is full sooner, in steps or seconds, than the budget asks for.", false},
    {"contexts", "CUDA contexts", "More CUDA contexts are on the device at the same time than the budget.", false},
    {"category", "Memory of one category", "More of one category is live at the peak than the budget.", false},
    {"new-site", "New memory", "A site that the baseline does not have needs memory.", true},
    {"grown-site", "More memory", "A site needs more memory than in the baseline.", true},
    {"peak-regression", "Higher peak", "More is live at the peak than in the baseline.", true},
    {"reserved-regression", "More reserved", "More is taken from the device at the peak than in the baseline.", true},
    {"growth-regression", "Faster growth", "Live memory grows faster than in the baseline.", true},
    {"fragmentation-regression", "More fragmentation", "More is reserved and not live than in the baseline.", true},
    {"category-regression", "More of one category", "More of one category is live than in the baseline.", true},
};

const CheckRule* FindRule(std::string_view id) {
  for (const CheckRule& rule : kCheckRules) {
    if (id == rule.id) return &rule;
  }
  return nullptr;
}

std::vector<std::string> RuleNames() {
  std::vector<std::string> names;
  for (const CheckRule& rule : kCheckRules) names.emplace_back(rule.id);
  return names;
}

}  // namespace vramtrack
