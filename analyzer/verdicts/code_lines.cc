// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdicts/code_lines.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "proto/hash.h"

namespace vramtrack {
namespace {

// So many files that differ by a number or a hash, and have the same function in the same line, are copies of one.
constexpr size_t kManyCopies = 8;
// A hash or a counter in a name has a digit; of letters that are hexadecimal digits it has so many at least.
constexpr size_t kShortestHash = 6;

bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

uint64_t Hash(uint64_t seed, std::string_view text) { return Mix(seed, std::hash<std::string_view>()(text)); }

// Code that is made while the program runs has no file.
bool IsMadeUp(const ReportFrame& frame) { return !frame.file.empty() && frame.file[0] == '<'; }

size_t FrameOfLine(const std::vector<ReportFrame>& frames) {
  return OwnFrame(frames).value_or(std::min(NamingFrame(frames, 0), frames.size() - 1));
}

struct Names {
  std::string file, function;
};

Names NamesOf(const ReportFrame& frame, bool copies) {
  if (copies || IsMadeUp(frame)) return {NameOfCopies(frame.file), NameOfCopies(frame.function)};
  return {frame.file, frame.function};
}

std::array<uint64_t, kCodeUnits> KeysOf(const ReportFrame& frame, bool copies) {
  const Names names = NamesOf(frame, copies);
  const uint64_t module = Hash(1, IsPython(frame) ? "python" : copies ? NameOfCopies(frame.module) : frame.module);
  const uint64_t file = names.file.empty() ? Mix(module, 2) : Hash(2, names.file);
  const uint64_t function = Hash(Mix(file, 3), names.function);
  // A line has one function, but templates and decorators give it several names.
  const uint64_t line = frame.line != 0 ? Mix(Mix(file, 4), frame.line) : Mix(Mix(function, 5), frame.offset);
  return {line, function, file, module};
}

}  // namespace

std::string NameOfCopies(std::string_view name) {
  std::string plain;
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    bool digit = false;
    while (end < name.size() && IsHex(name[end])) digit |= IsDigit(name[end++]);
    const bool whole_word = i == 0 || !std::isalpha(static_cast<unsigned char>(name[i - 1]));
    if (digit && whole_word && end - i >= kShortestHash) {
      plain += '#';
      i = end;
    } else if (IsDigit(name[i])) {
      plain += '#';
      while (i < name.size() && IsDigit(name[i])) ++i;
    } else {
      plain += name[i++];
    }
  }
  return plain;
}

std::vector<CodeLine> LinesOf(const Ledger& ledger, const GrowthLedger& growth, const std::vector<SiteIndex>& wanted,
                              StackSymbolizer* symbolizer) {
  struct Known {
    ReportFrame frame;
    uint64_t of_copies = 0;
  };
  absl::flat_hash_map<StackIndex, Known> known;
  absl::flat_hash_map<uint64_t, std::set<std::string>> files;  // by what copies have in common
  for (const SiteIndex site : wanted) {
    const StackIndex stack = ledger.sites()[site].key.stack;
    const auto [found, is_new] = known.try_emplace(stack);
    if (!is_new) continue;
    const std::vector<ReportFrame> frames = symbolizer->Frames(stack);
    if (frames.empty()) continue;
    found->second.frame = frames[FrameOfLine(frames)];
    const ReportFrame& frame = found->second.frame;
    found->second.of_copies = KeysOf(frame, /*copies=*/true)[0];
    files[found->second.of_copies].insert(frame.file.empty() ? frame.module : frame.file);
  }
  std::vector<CodeLine> lines;
  absl::flat_hash_map<std::pair<uint32_t, uint64_t>, size_t> index;
  for (const SiteIndex site : wanted) {
    const Known& of = known.at(ledger.sites()[site].key.stack);
    const bool copies = files[of.of_copies].size() >= kManyCopies;
    const auto keys = KeysOf(of.frame, copies);
    const uint32_t book = growth.BookOf(site);
    const auto [found, is_new] = index.try_emplace({book, keys[0]}, lines.size());
    if (is_new) lines.push_back({book, of.frame, keys, {}});
    lines[found->second].sites.push_back(site);
  }
  return lines;
}

}  // namespace vramtrack
