// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/text_style.h"

namespace vramtrack {
namespace {

// Of the basic set only: they follow the user's own palette, on a dark background and on a light one.
std::string_view Sequence(Paint paint) {
  switch (paint) {
    case Paint::kBold:
      return "\x1b[1m";
    case Paint::kDim:
      return "\x1b[2m";
    case Paint::kAlarm:
      return "\x1b[1;31m";
    case Paint::kGood:
      return "\x1b[1;32m";
    case Paint::kWarning:
      return "\x1b[33m";
    case Paint::kPlain:
      break;
  }
  return "";
}

}  // namespace

std::string Painted(const TextStyle& style, Paint paint, std::string_view text) {
  if (!style.color || paint == Paint::kPlain || text.empty()) return std::string(text);
  std::string painted(Sequence(paint));
  painted += text;
  painted += "\x1b[0m";
  return painted;
}

}  // namespace vramtrack
