// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/site_keys.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/library.h"
#include "analyzer/base/affix.h"

namespace vramtrack {
namespace {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

// Replaces `old` by `now` where it is whole parts of a name in `text`. True if it did.
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

constexpr double kAlike = 0.05;  // of a doubling: about 3.5 %

// In doublings.
double LogRatio(double a, double b) {
  const double distance = std::fabs(std::log2((a + 1) / (b + 1)));
  return distance < kAlike ? 0 : distance;
}

}  // namespace

double ShapeDistance(const ProfileSite& a, const ProfileSite& b) {
  return LogRatio(a.births_per_active_step, b.births_per_active_step) + LogRatio(a.bytes_per_birth, b.bytes_per_birth) +
         LogRatio(a.lifetime_steps, b.lifetime_steps) / 2 + (a.recurring != b.recurring ? 1 : 0);
}

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

SiteKeys NamesOf(const ProfileSite& site, const RenameMap& renames, NameTable* table) {
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

namespace {

// More would take long, and so many sites with the same names are distinguished by their order as well as by anything.
constexpr size_t kMaxCandidates = 1000000;

struct Candidate {
  double cost;
  size_t shift;
  size_t base, next;
};

}  // namespace

std::vector<std::pair<size_t, size_t>> PairCheapest(size_t base, size_t next, double most,
                                                    const std::function<double(size_t, size_t)>& cost) {
  std::vector<Candidate> candidates;
  const bool all = base * next <= kMaxCandidates;
  for (size_t b = 0; b < base; ++b) {
    const size_t first = all ? 0 : b, end = all ? next : std::min(next, b + 1);
    for (size_t n = first; n < end; ++n) {
      const double value = cost(b, n);
      if (value <= most) candidates.push_back({value, b > n ? b - n : n - b, b, n});
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& x, const Candidate& y) {
    return std::tie(x.cost, x.shift, x.base, x.next) < std::tie(y.cost, y.shift, y.base, y.next);
  });
  std::vector<bool> base_taken(base), next_taken(next);
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const Candidate& candidate : candidates) {
    if (base_taken[candidate.base] || next_taken[candidate.next]) continue;
    base_taken[candidate.base] = next_taken[candidate.next] = true;
    pairs.push_back({candidate.base, candidate.next});
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

namespace {

constexpr uint32_t kAnyName = UINT32_MAX;
constexpr double kAlikeShape = 0.35;  // of a doubling, see ShapeDistance
constexpr double kAlikeName = 0.5;
constexpr size_t kMaxLetters = 128;

// The part of a name behind the last "::", "." or "/".
std::string LastPart(const std::string& name) {
  const size_t at = name.find_last_of(":./ ");
  return at == std::string::npos || at + 1 == name.size() ? name : name.substr(at + 1);
}

// The stack with what one run alone has left open, after its kind and device.
std::vector<uint32_t> PatternOf(const RenameCandidate& candidate, const std::vector<bool>& in_other) {
  std::vector<uint32_t> pattern = {candidate.site->kind, candidate.site->device_ordinal};
  for (const uint32_t name : candidate.names->whole) pattern.push_back(in_other[name] ? name : kAnyName);
  return pattern;
}

struct Votes {
  double score = 0;
  size_t count = 0;
};

}  // namespace

double NameSimilarity(const std::string& a, const std::string& b) {
  const std::string x = a.substr(0, kMaxLetters), y = b.substr(0, kMaxLetters);
  if (x.empty() || y.empty()) return 0;
  std::vector<size_t> row(y.size() + 1);
  for (size_t j = 0; j <= y.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= x.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= y.size(); ++j) {
      const size_t changed = diagonal + (x[i - 1] != y[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return 1 - static_cast<double>(row[y.size()]) / static_cast<double>(std::max(x.size(), y.size()));
}

std::map<uint32_t, uint32_t> InferRenames(const std::vector<RenameCandidate>& base,
                                          const std::vector<RenameCandidate>& next, const std::vector<bool>& in_base,
                                          const std::vector<bool>& in_next, const NameTable& table) {
  std::map<std::vector<uint32_t>, std::pair<std::vector<size_t>, std::vector<size_t>>> groups;
  for (size_t i = 0; i < base.size(); ++i) groups[PatternOf(base[i], in_next)].first.push_back(i);
  for (size_t i = 0; i < next.size(); ++i) groups[PatternOf(next[i], in_base)].second.push_back(i);
  std::map<std::pair<uint32_t, uint32_t>, Votes> votes;
  std::map<uint32_t, size_t> sites_with;  // names that are open, in stacks that have a pattern in common
  std::map<std::pair<uint32_t, uint32_t>, double> similarities;
  const auto similarity = [&](uint32_t old, uint32_t now) {
    const auto [found, is_new] = similarities.try_emplace({old, now}, 0);
    if (is_new) found->second = NameSimilarity(LastPart(table.Text(old)), LastPart(table.Text(now)));
    return found->second;
  };
  for (const auto& [pattern, members] : groups) {
    const auto& [olds, nows] = members;
    // Stacks that have nothing in common say nothing.
    const bool related =
        std::any_of(pattern.begin() + 2, pattern.end(), [](uint32_t name) { return name != kAnyName; });
    if (olds.empty() || nows.empty() || !related) continue;
    const auto likeness = [&](size_t b, size_t n) {
      double sum = 0, open = 0;
      for (size_t i = 2; i < pattern.size(); ++i) {
        if (pattern[i] != kAnyName) continue;
        sum += similarity(base[olds[b]].names->whole[i - 2], next[nows[n]].names->whole[i - 2]);
        ++open;
      }
      return open == 0 ? 1 : sum / open;
    };
    const auto pairs = PairCheapest(olds.size(), nows.size(), 1e9, [&](size_t b, size_t n) {
      return ShapeDistance(*base[olds[b]].site, *next[nows[n]].site) + 1 - likeness(b, n);
    });
    for (const auto& [b, n] : pairs) {
      const RenameCandidate &old = base[olds[b]], &now = next[nows[n]];
      const double distance = ShapeDistance(*old.site, *now.site);
      for (size_t i = 2; i < pattern.size(); ++i) {
        if (pattern[i] != kAnyName) continue;
        const std::pair<uint32_t, uint32_t> names = {old.names->whole[i - 2], now.names->whole[i - 2]};
        ++sites_with[names.first];
        if (distance > kAlikeShape && similarity(names.first, names.second) < kAlikeName) continue;
        Votes& vote = votes[names];
        vote.score += 1 / (1 + distance) + similarity(names.first, names.second);
        ++vote.count;
      }
    }
  }
  // The best supported first; one to one.
  std::vector<std::tuple<double, uint32_t, uint32_t>> order;
  for (const auto& [names, vote] : votes) {
    if (2 * vote.count < sites_with[names.first]) continue;
    order.push_back({-vote.score, names.first, names.second});
  }
  std::sort(order.begin(), order.end());
  std::map<uint32_t, uint32_t> renames;
  std::set<uint32_t> taken;
  for (const auto& [score, old, now] : order) {
    if (renames.count(old) != 0 || !taken.insert(now).second) continue;
    renames.emplace(old, now);
  }
  return renames;
}

}  // namespace vramtrack
