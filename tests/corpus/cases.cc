// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/cases.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "analyzer/leaks/testing/families.h"

namespace vramtrack::corpus {
namespace {

// The families that the statistics are tested with, as whole traces.
std::vector<Case> FamilyCases() {
  std::vector<Case> cases;
  for (size_t i = 0; i < Families().size(); ++i) {
    const vramtrack::Family& family = Families()[i];
    Flow flow = Flow::Family(static_cast<int>(i));
    Case one;
    one.id = "F" + family.name.substr(0, 3);
    one.group = family.leaks ? "family" : "family lookalike";
    one.what = family.name.substr(4);
    one.lookalike = !family.leaks;
    one.flows = {family.leaks ? flow.Leak() : flow};
    if (family.leaks) one.right = {"leak", "minor_leak", "accelerating_leak"};
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace

bool Case::IsLeak() const {
  return std::any_of(flows.begin(), flows.end(), [](const Flow& flow) { return flow.leaks; });
}

const std::vector<Case>& Cases() {
  static const std::vector<Case>* const kCases = [] {
    auto* cases = new std::vector<Case>(LeakCases());
    for (auto part : {LookalikeCases, FamilyCases}) {
      std::vector<Case> more = part();
      std::move(more.begin(), more.end(), std::back_inserter(*cases));
    }
    std::map<std::string, int> of_group;
    for (Case& one : *cases) one.half = of_group[one.group]++ % 2 == 0 ? Half::kTuning : Half::kHeldOut;
    return cases;
  }();
  return *kCases;
}

}  // namespace vramtrack::corpus
