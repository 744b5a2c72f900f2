// SPDX-License-Identifier: Apache-2.0
//
// How text is to look: what the terminal at the other end can show.
#ifndef ANALYZER_BASE_TEXT_STYLE_H_
#define ANALYZER_BASE_TEXT_STYLE_H_

#include <string>
#include <string_view>

namespace vramtrack {

struct TextStyle {
  int columns = 100;
  bool unicode = false;  // marks and charts beyond ASCII
  bool color = false;
};

enum class Paint { kPlain, kBold, kDim, kAlarm, kGood, kWarning };

// `text` in the colour of `paint`; unchanged where `style` has no colour.
std::string Painted(const TextStyle& style, Paint paint, std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_TEXT_STYLE_H_
