// SPDX-License-Identifier: Apache-2.0
#include "analyzer/toml/toml_file.h"

#include "absl/strings/str_cat.h"
#include "analyzer/base/choices.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {
namespace {

// The parser limits how deep values nest, but not how many parts a dotted key has. Each part is a table inside the
// previous one, and they are freed by recursion: too many would use up the stack.
constexpr int kMostDotsOfLine = 256;

// 0, or the first line with more dots than any key, number or text of a user's file has.
int LineOfTooManyDots(std::string_view text) {
  int line = 1, dots = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      dots = 0;
    } else if (c == '.' && ++dots > kMostDotsOfLine) {
      return line;
    }
  }
  return 0;
}

}  // namespace

absl::StatusOr<toml::table> ParseToml(std::string_view text, const std::string& path) {
  if (const int line = LineOfTooManyDots(text)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":", line, ": more than ", kMostDotsOfLine,
                                                   " dots in one line (keys are nested too deeply)"));
  }
  toml::parse_result file = toml::parse(text, path);
  if (!file) {
    const toml::parse_error& error = file.error();
    return absl::InvalidArgumentError(
        absl::StrCat(path, ":", error.source().begin.line, ": ", Printable(std::string(error.description()))));
  }
  return std::move(file).table();
}

std::string TomlMistakes::PlaceOf(const toml::node& node) const {
  return absl::StrCat(path_, ":", node.source().begin.line);
}

void TomlMistakes::Add(const toml::source_position& at, const std::string& what) {
  mistakes_.emplace(std::make_pair(at.line, at.column), absl::StrCat(path_, ":", at.line, ": ", what));
}

void TomlMistakes::AddUnknownKey(const toml::key& key, const std::string& table,
                                 const std::vector<std::string>& expected) {
  Add(key.source().begin, UnknownChoice("key", std::string(key.str()), expected, " in " + table));
}

void TomlMistakes::ReadText(const std::string& key, const toml::node& node, std::string* text) {
  if (const auto* value = node.as_string(); value != nullptr && !value->get().empty()) {
    *text = value->get();
  } else {
    Add(node, key + ": expected a string that is not empty");
  }
}

absl::Status TomlMistakes::status() const {
  if (mistakes_.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(mistakes_.begin()->second);
}

}  // namespace vramtrack
