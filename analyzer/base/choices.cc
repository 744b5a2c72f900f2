// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/choices.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {
namespace {

// Insertions, deletions, replacements and swaps of neighbours that make `a` into `b`.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> edits(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) edits[i][0] = i;
  std::iota(edits[0].begin(), edits[0].end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      edits[i][j] = std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
      }
    }
  }
  return edits[a.size()][b.size()];
}

}  // namespace

std::string JoinChoices(const std::vector<std::string>& choices) {
  if (choices.size() < 2) return absl::StrJoin(choices, "");
  const std::vector<std::string> first(choices.begin(), choices.end() - 1);
  return absl::StrCat(absl::StrJoin(first, ", "), " or ", choices.back());
}

std::string UnknownChoice(const std::string& noun, const std::string& value, const std::vector<std::string>& choices,
                          const std::string& where) {
  return absl::StrCat("unknown ", noun, " '", Printable(value), "'", where, " (expected ", JoinChoices(choices), ")");
}

std::string NearMiss(const std::string& word, const std::vector<std::string>& choices) {
  constexpr size_t kLongestWord = 64;
  std::string nearest;
  size_t fewest = word.size() < 5 ? 2 : 3;  // this many edits are too many
  if (word.size() > kLongestWord) return "";
  for (const std::string& choice : choices) {
    const size_t edits = EditDistance(word, choice);
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = choice;
  }
  return nearest;
}

}  // namespace vramtrack
