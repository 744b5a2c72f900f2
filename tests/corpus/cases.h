// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CORPUS_CASES_H_
#define TESTS_CORPUS_CASES_H_

#include <vector>

#include "tests/corpus/flow.h"

namespace vramtrack::corpus {

// Every case, always in the same order. Within each group of mechanisms they belong to the two halves in turn: what is
// tuned on one half is reported on the other.
const std::vector<Case>& Cases();

// The parts of the table, without their halves.
std::vector<Case> LeakCases();
std::vector<Case> LookalikeCases();

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_CASES_H_
