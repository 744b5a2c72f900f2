// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/site_keys.h"

#include <cctype>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/library.h"
#include "analyzer/symbols/affix.h"

namespace vramtrack {
namespace {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

// `old` where it stands in `text` as whole parts of a name gives way to `now`. True if it did.
bool ReplacePart(std::string_view old, std::string_view now, std::string* text) {
  if (old.empty()) return false;
  for (size_t at = text->find(old); at != std::string::npos; at = text->find(old, at + 1)) {
    const size_t end = at + old.size();
    const bool begins = at == 0 || !IsWord((*text)[at - 1]) || !IsWord(old[0]);
    const bool ends = end == text->size() || !IsWord((*text)[end]) || !IsWord(old.back());
    if (!begins || !ends) continue;
    text->replace(at, old.size(), now);
    return true;
  }
  return false;
}

bool IsStandardLibrary(std::string_view function) {
  return StartsWith(function, "std::") || StartsWith(function, "__gnu_cxx::") || StartsWith(function, "operator new");
}

}  // namespace

uint32_t NameTable::Number(const std::string& text) {
  const auto [found, is_new] = numbers_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return found->second;
}

CanonicalFrame Renamed(const CanonicalFrame& frame, const RenameMap& renames) {
  CanonicalFrame renamed = frame;
  for (const auto& [old, now] : renames) {
    // A rename that was inferred names place and function.
    if (WholeName(frame) == old) {
      const size_t colon = now.rfind(": ");
      renamed.place = colon == std::string::npos ? "" : now.substr(0, colon);
      renamed.name = colon == std::string::npos ? now : now.substr(colon + 2);
      return renamed;
    }
    ReplacePart(old, now, &renamed.name);
    if (frame.place != "(program)") ReplacePart(old, now, &renamed.place);
  }
  return renamed;
}

std::string WholeName(const CanonicalFrame& frame) { return absl::StrCat(frame.place, ": ", frame.name); }

SiteKeys NamesOf(const DiffSite& site, const RenameMap& renames, NameTable* table) {
  SiteKeys names;
  std::vector<uint32_t> all;
  for (const CanonicalFrame& original : site.canonical) {
    const CanonicalFrame frame = renames.empty() ? original : Renamed(original, renames);
    names.whole.push_back(table->Number(WholeName(frame)));
    const bool arguments = !frame.exact_name.empty() && frame.name == original.name;
    names.exact.push_back(arguments ? table->Number(absl::StrCat(frame.place, ": ", frame.exact_name))
                                    : names.whole.back());
    // The folder says nothing that the function and the file's own name do not.
    const uint32_t function = table->Number(frame.name.empty() ? frame.place : absl::StrCat(": ", frame.name));
    all.push_back(function);
    if (frame.own && !frame.inlined && !IsStandardLibrary(frame.name)) names.folded.push_back(function);
  }
  if (names.folded.empty()) names.folded = std::move(all);
  return names;
}

}  // namespace vramtrack
