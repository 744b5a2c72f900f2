// SPDX-License-Identifier: Apache-2.0
//
// Replacements for starts_with and ends_with of C++20 and contains of C++23. Abseil's versions take its own string_view
// if it was built for C++14, as in Debian.
#ifndef ANALYZER_BASE_AFFIX_H_
#define ANALYZER_BASE_AFFIX_H_

#include <string_view>

namespace vramtrack {

inline bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

inline bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

inline bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace vramtrack

#endif  // ANALYZER_BASE_AFFIX_H_
