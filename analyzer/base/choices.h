// SPDX-License-Identifier: Apache-2.0
//
// Error messages about words that a user may choose from.
#ifndef ANALYZER_BASE_CHOICES_H_
#define ANALYZER_BASE_CHOICES_H_

#include <string>
#include <vector>

namespace vramtrack {

// Returns "a, b or c".
std::string JoinChoices(const std::vector<std::string>& choices);

// Returns "unknown format 'xml' (expected text, json or html)". `where` follows the value: " in [budget]".
std::string UnknownChoice(const std::string& noun, const std::string& value, const std::vector<std::string>& choices,
                          const std::string& where = "");

// Returns the entry of `choices` that `word` is probably a misspelling of; empty if none is close.
std::string NearMiss(const std::string& word, const std::vector<std::string>& choices);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_CHOICES_H_
