// SPDX-License-Identifier: Apache-2.0
//
// What each rule behind a verdict carries: the runs that change when it is switched off.
#ifndef TESTS_CORPUS_ABLATION_H_
#define TESTS_CORPUS_ABLATION_H_

#include <string>
#include <vector>

#include "tests/corpus/score.h"

namespace vramtrack::corpus {

struct Ablation {
  std::string rule, off;    // a number of Prior or a fact's id; what it is set to
  int lost = 0, found = 0;  // leaks that are no longer found, and that are found only now
  int false_leaks = 0;      // runs that have one now and had none
  int other = 0;            // runs that find the same, but give a site another verdict or reason
};

// Analyses the runs once with each rule off. Takes as many times as long as scoring them as there are rules.
std::vector<Ablation> Ablate(const std::vector<RunSpec>& runs, int threads);

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_ABLATION_H_
