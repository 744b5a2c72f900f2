// SPDX-License-Identifier: Apache-2.0
//
// Text from a trace (paths, symbols, command lines: any bytes) made fit for a terminal, and measured in columns.
#ifndef ANALYZER_BASE_DISPLAY_TEXT_H_
#define ANALYZER_BASE_DISPLAY_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace vramtrack {

// Valid UTF-8 without anything that moves the cursor, changes colours or reverses the direction: such bytes become \xNN
// or \u{NNNN}, new lines too.
std::string Printable(std::string_view bytes);

// Columns that `text` takes on a terminal; colour sequences take none.
int DisplayWidth(std::string_view text);

// At most `columns` wide: the end, or the beginning, gives way to "...". Not for painted text.
std::string CutEnd(std::string_view text, int columns);
std::string CutBeginning(std::string_view text, int columns);

// `text` and spaces up to `columns`; unchanged if it is wider.
std::string PadRight(std::string_view text, int columns);
std::string PadLeft(std::string_view text, int columns);

// Lines of at most `columns`, broken at spaces; a longer word keeps a line of its own.
std::vector<std::string> Wrap(std::string_view text, int columns);

// How text is to look: what the terminal at the other end can show.

struct TextStyle {
  int columns = 100;
  bool unicode = false;  // marks and charts beyond ASCII
  bool color = false;
};

enum class Paint { kPlain, kBold, kDim, kAlarm, kGood, kWarning };

// `text` in the colour of `paint`; unchanged where `style` has no colour.
std::string Painted(const TextStyle& style, Paint paint, std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_DISPLAY_TEXT_H_
