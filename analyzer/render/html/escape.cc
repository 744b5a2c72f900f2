// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/html/escape.h"

#include "analyzer/base/display_text.h"

namespace vramtrack {

std::string EscapeLines(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 16);
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string EscapeHtml(std::string_view bytes) { return EscapeLines(Printable(bytes)); }

}  // namespace vramtrack
