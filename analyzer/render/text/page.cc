// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/page.h"

#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_replace.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {

void Page::Line(std::string_view line, int indent) {
  text_.append(indent, ' ');
  text_ += line;
  text_ += '\n';
}

void Page::Words(std::string_view words, int indent, Paint paint, std::string_view lead) {
  bool first = true;
  for (const std::string& line : Wrap(words, style_.columns - indent)) {
    if (first && !lead.empty()) {
      text_ += PadRight(lead, indent);
      Line(Painted(style_, paint, line));
    } else {
      Line(Painted(style_, paint, line), indent);
    }
    first = false;
  }
}

void Page::Blank() {
  if (!text_.empty()) text_ += '\n';
}

void Page::Section(std::string_view title) {
  Blank();
  Line(Painted(style_, Paint::kBold, title));
}

std::string InStyle(const TextStyle& style, const std::string& text) {
  const std::string printable = Printable(text);
  return style.unicode ? printable : absl::StrReplaceAll(printable, {{"→", "->"}, {"…", "..."}});
}

namespace {

constexpr int kColumnsElsewhere = 100;  // a file, a pipe, a mail
constexpr int kFewestColumns = 80;      // a narrower terminal breaks the lines itself
constexpr int kMostColumns = 120;       // longer lines are hard to follow by eye

int Columns(int fd) {
  int columns = 0;
  if (const char* variable = std::getenv("COLUMNS")) columns = std::atoi(variable);
  winsize size = {};
  if (columns <= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  if (columns <= 0) columns = kColumnsElsewhere;
  return std::clamp(columns, kFewestColumns, kMostColumns);
}

// As setlocale() would decide it, but without the need for the locale to be installed.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || value[0] == '\0') continue;
    return strcasestr(value, "utf-8") != nullptr || strcasestr(value, "utf8") != nullptr;
  }
  return false;
}

bool Color(int fd, ColorMode mode) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && no_color[0] != '\0') return false;
  const char* term = std::getenv("TERM");
  if (term == nullptr || strcmp(term, "dumb") == 0) return false;
  return isatty(fd) == 1;
}

}  // namespace

TextStyle DetectStyle(int fd, ColorMode color) {
  TextStyle style;
  style.columns = Columns(fd);
  style.unicode = LocaleIsUtf8();
  style.color = Color(fd, color);
  return style;
}

}  // namespace vramtrack
