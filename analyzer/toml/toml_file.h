// SPDX-License-Identifier: Apache-2.0
//
// Files in TOML that users write, such as budgets and rules for categories.
#ifndef ANALYZER_TOML_TOML_FILE_H_
#define ANALYZER_TOML_TOML_FILE_H_

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
// Tables of limits in a list are the deepest there is. See kMostDotsOfLine in toml_file.cc.
#define TOML_MAX_NESTED_VALUES 16
// The parser asserts what a damaged file does not keep to, and with NDEBUG has the compiler take it for granted:
// neither is wanted, as it goes on to a proper error without.
#define TOML_ASSERT(expr) static_cast<void>(0)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vramtrack {

// Parses a file. `path` names it in errors, which are one line with the line of the file.
absl::StatusOr<toml::table> ParseToml(std::string_view text, const std::string& path);

// The mistakes in a file that is valid TOML. Thread-compatible.
class TomlMistakes {
 public:
  // `path` must outlive it.
  explicit TomlMistakes(const std::string& path) : path_(path) {}

  // Returns the file and line of a node, such as "budgets.toml:12".
  std::string PlaceOf(const toml::node& node) const;

  void Add(const toml::node& node, const std::string& what) { Add(node.source().begin, what); }
  // Adds an unknown key of `table`, such as "[budget]", and the keys that are expected.
  void AddUnknownKey(const toml::key& key, const std::string& table, const std::vector<std::string>& expected);

  // Reads a string that is not empty. Adds a mistake if it is another value.
  void ReadText(const std::string& key, const toml::node& node, std::string* text);

  // Returns the mistake that comes first in the file; OK without mistakes.
  absl::Status status() const;

 private:
  void Add(const toml::source_position& at, const std::string& what);

  const std::string& path_;
  std::map<std::pair<uint32_t, uint32_t>, std::string> mistakes_;  // by line and column
};

}  // namespace vramtrack

#endif  // ANALYZER_TOML_TOML_FILE_H_
