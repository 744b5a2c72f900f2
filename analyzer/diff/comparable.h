// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_COMPARABLE_H_
#define ANALYZER_DIFF_COMPARABLE_H_

#include <string>
#include <vector>

#include "analyzer/diff/compared_pair.h"

namespace vramtrack {

// Why these are not two runs of one program, of which nothing else can be said; empty if they are.
std::string WhyNotComparable(const ComparedPair& pair);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_COMPARABLE_H_
