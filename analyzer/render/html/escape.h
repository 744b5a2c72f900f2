// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_HTML_ESCAPE_H_
#define ANALYZER_RENDER_HTML_ESCAPE_H_

#include <string>
#include <string_view>

namespace vramtrack {

// Text from a trace (any bytes) as the content of an element or of an attribute in double quotes: as Printable has it,
// with the characters of markup escaped.
std::string EscapeHtml(std::string_view bytes);

// The same of text of our own that has lines.
std::string EscapeLines(std::string_view text);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_HTML_ESCAPE_H_
