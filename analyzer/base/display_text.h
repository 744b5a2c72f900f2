// SPDX-License-Identifier: Apache-2.0
//
// Makes text from a trace (paths, symbols, command lines: any bytes) safe for a terminal, and measures it in columns.
#ifndef ANALYZER_BASE_DISPLAY_TEXT_H_
#define ANALYZER_BASE_DISPLAY_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace vramtrack {

// Returns `bytes` as valid UTF-8 without anything that moves the cursor, changes colours, reverses the direction or is
// a command to a CI service that reads its job's output (GitHub's, Azure's). Such bytes, including line breaks, become
// \xNN or \u{NNNN}.
std::string Printable(std::string_view bytes);

// Returns how many bytes the first character of `text` has, which is not empty; 0 if it is not UTF-8.
size_t CharacterBytes(std::string_view text);

// Returns the columns that `text` takes on a terminal. Colour sequences take none.
int DisplayWidth(std::string_view text);

// Return `text` cut to at most `columns` columns: "..." replaces the end or the beginning. Not for painted text.
std::string CutEnd(std::string_view text, int columns);
std::string CutBeginning(std::string_view text, int columns);

// Return `text` padded with spaces to `columns` columns; unchanged if it is wider.
std::string PadRight(std::string_view text, int columns);
std::string PadLeft(std::string_view text, int columns);

// Breaks `text` at spaces into lines of at most `columns` columns. A longer word gets its own line.
std::vector<std::string> Wrap(std::string_view text, int columns);

// The capabilities of the terminal that text is written for.
struct TextStyle {
  int columns = 100;
  bool unicode = false;  // marks and charts beyond ASCII
  bool color = false;
};

enum class Paint { kPlain, kBold, kDim, kAlarm, kGood, kWarning };

// Returns `text` in the colour of `paint`; unchanged if `style` has no colour.
std::string Painted(const TextStyle& style, Paint paint, std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_DISPLAY_TEXT_H_
