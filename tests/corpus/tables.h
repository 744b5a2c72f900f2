// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_CORPUS_TABLES_H_
#define TESTS_CORPUS_TABLES_H_

#include <cstdio>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include "tests/corpus/score.h"
#include "tests/corpus/summary.h"

namespace vramtrack::corpus {

// One line a number of steps; the heading first.
void PrintOurs(const std::string& title, const std::vector<std::pair<std::string, Summary>>& rows, FILE* out);
// One line a rule.
void PrintRivals(const std::string& title, const Summary& summary, FILE* out);
void PrintConfusion(const Summary& summary, FILE* out);
// Each case and variant of which a run failed, with how many, and what was said once.
void PrintFailures(const std::vector<RunSpec>& runs, const std::vector<RunScore>& scores, bool explain, FILE* out);

// Each run whose rate is not right, or whose interval does not hold it.
void PrintRatesOff(const std::vector<RunSpec>& runs, const std::vector<RunScore>& scores, FILE* out);

nlohmann::ordered_json ToJson(const Summary& summary);

const char* ToString(Variant variant);
const char* ToString(Half half);

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_TABLES_H_
