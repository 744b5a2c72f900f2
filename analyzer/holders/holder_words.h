// SPDX-License-Identifier: Apache-2.0
//
// What a chosen path means, in words: what keeps the memory, and what to change where the pattern is certain.
#ifndef ANALYZER_HOLDERS_HOLDER_WORDS_H_
#define ANALYZER_HOLDERS_HOLDER_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/holders/holder_choice.h"
#include "analyzer/model/holder.h"

namespace vramtrack {

// What is known of a chosen holder beyond its path.
struct HolderFacts {
  bool leak = false;         // a leak holds these blocks, and its verdict is sure
  uint64_t birth_steps = 0;  // number of steps that allocated the blocks with the chosen path; 0 without steps
  uint32_t flags = 0;        // schema::HolderFlags of any of these blocks
  bool hooks_grow = false;   // more hooks were on the path than at the first walk
  bool numbers = false;      // each of these blocks is a tensor of one number
};

// Returns how the object holds, as `how` of ReportHolder.
HolderKind HowItHolds(const ChosenHolder& chosen);

// Returns the object that holds, with its type, its place and how it grew: "history (a list in train.py, 1,204 entries,
// 602 at step 40)".
std::string HolderName(const ChosenHolder& chosen, const ReportHolder& holder);

// Returns the explanation. `holder`: all other fields, filled in.
std::string ExplainHolder(const ChosenHolder& chosen, const ReportHolder& holder, bool leak);

// Returns the explanation where a walk found none of the blocks.
std::string ExplainUnknownHolder(const ReportHolder& holder);

// Returns what to change; empty unless it is certain.
std::string HolderHint(const ChosenHolder& chosen, const ReportHolder& holder, const HolderFacts& facts);

}  // namespace vramtrack

#endif  // ANALYZER_HOLDERS_HOLDER_WORDS_H_
