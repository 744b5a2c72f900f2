// SPDX-License-Identifier: Apache-2.0
//
// C++20's starts_with, ends_with and, of C++23, contains. Abseil's take a string_view of its own where it was built
// for C++14, as Debian's is.
#ifndef ANALYZER_SYMBOLS_AFFIX_H_
#define ANALYZER_SYMBOLS_AFFIX_H_

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

#endif  // ANALYZER_SYMBOLS_AFFIX_H_
