// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/site_matching.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/diff/site_keys.h"
#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

// How alike two stacks are whose frames are not the same: frames are aligned in their order, and rare ones say more
// than those that all stacks go through (TraceSim's weights; FaST showed that a greedy alignment is as good as the
// optimal one, MSR 2022; stacks are short, so this one is optimal).

// Thread-compatible.
class FrameWeights {
 public:
  // The stacks of both runs, as numbers of names below `names`.
  FrameWeights(const std::vector<SiteKeys>& base, const std::vector<SiteKeys>& next, size_t names);

  // 0 to 1: the weight of the frames that align, of the weight of all frames of both.
  double Similarity(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) const;

 private:
  // By name: the inverse document frequency. A name that only one run has is as rare as the others on average: that
  // it is new is what the edit did, not what the stack is about.
  std::vector<double> weights_;
};

void CountStacks(const std::vector<SiteKeys>& stacks, std::vector<uint32_t>* counts) {
  std::vector<size_t> last(counts->size(), SIZE_MAX);
  for (size_t i = 0; i < stacks.size(); ++i) {
    for (const uint32_t name : stacks[i].whole) {
      if (last[name] == i) continue;
      last[name] = i;
      ++(*counts)[name];
    }
  }
}

FrameWeights::FrameWeights(const std::vector<SiteKeys>& base, const std::vector<SiteKeys>& next, size_t names)
    : weights_(names) {
  std::vector<uint32_t> in_base(names), in_next(names);
  CountStacks(base, &in_base);
  CountStacks(next, &in_next);
  const double stacks = static_cast<double>(base.size() + next.size());
  double sum = 0;
  size_t shared = 0;
  for (size_t i = 0; i < names; ++i) {
    if (in_base[i] == 0 || in_next[i] == 0) continue;
    weights_[i] = std::log(1 + stacks / (in_base[i] + in_next[i]));
    sum += weights_[i];
    ++shared;
  }
  const double usual = shared == 0 ? 1 : sum / static_cast<double>(shared);
  for (size_t i = 0; i < names; ++i) {
    if (in_base[i] == 0 || in_next[i] == 0) weights_[i] = usual;
  }
}

double FrameWeights::Similarity(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) const {
  double all = 0;
  for (const uint32_t name : a) all += weights_[name];
  for (const uint32_t name : b) all += weights_[name];
  if (all == 0) return 0;
  // The heaviest common subsequence, one row at a time.
  std::vector<double> before(b.size() + 1), now(b.size() + 1);
  for (const uint32_t name : a) {
    for (size_t j = 0; j < b.size(); ++j) {
      now[j + 1] = name == b[j] ? before[j] + weights_[name] : std::max(before[j + 1], now[j]);
    }
    std::swap(before, now);
  }
  return 2 * before[b.size()] / all;
}

constexpr size_t kNone = SIZE_MAX;
constexpr int kRenameRounds = 3;
constexpr double kSimilar = 0.8;
// Enough for sites that allocate alike to the last byte: what was moved keeps its callers or its callees.
constexpr double kSimilarForAlike = 0.5;
constexpr double kOtherPlace = 0.2;  // what it costs to be another one of the calls of one function
constexpr double kSameVolume = 0.01;
constexpr size_t kMaxAligned = 1500;  // sites of one run; those that allocate most

// Differences count less the larger they are: of two pairings the one is right that leaves more sites as they were.
double Saturated(double distance) { return distance / (distance + 0.5); }

class Matcher {
 public:
  Matcher(const std::vector<ProfileSite>& base, const std::vector<ProfileSite>& next, const RenameMap& renames)
      : sides_{{{base, {}, {}}, {next, {}, {}}}}, renames_(renames) {
    for (const ProfileSite& site : base) sides_[0].names.push_back(NamesOf(site, renames_, &table_));
    for (const ProfileSite& site : next) sides_[1].names.push_back(NamesOf(site, {}, &table_));
    for (Side& side : sides_) side.partner.assign(side.sites.size(), kNone);
  }

  SiteMatching Run() {
    PairEqual(&SiteKeys::exact);
    PairEqual(&SiteKeys::whole);
    for (int round = 0; round < kRenameRounds && ApplyInferred(); ++round) PairEqual(&SiteKeys::whole);
    PairEqual(&SiteKeys::folded);
    Align();
    SiteMatching matching;
    matching.inferred = inferred_;
    for (size_t i = 0; i < sides_[0].partner.size(); ++i) {
      if (sides_[0].partner[i] != kNone) matching.matches.push_back({{i}, {sides_[0].partner[i]}});
    }
    JoinParts(1, &SiteMatch::base, &SiteMatch::next, &matching.matches);
    JoinParts(0, &SiteMatch::next, &SiteMatch::base, &matching.matches);
    for (const size_t i : Unmatched(0)) matching.matches.push_back({{i}, {}});
    for (const size_t i : Unmatched(1)) matching.matches.push_back({{}, {i}});
    return matching;
  }

 private:
  struct Side {
    const std::vector<ProfileSite>& sites;
    std::vector<SiteKeys> names;
    std::vector<size_t> partner;
  };

  std::vector<size_t> Unmatched(int which) const {
    std::vector<size_t> left;
    for (size_t i = 0; i < sides_[which].partner.size(); ++i) {
      if (sides_[which].partner[i] == kNone) left.push_back(i);
    }
    return left;
  }

  void Pair(size_t base, size_t next) {
    sides_[0].partner[base] = next;
    sides_[1].partner[next] = base;
  }

  // Sites with the same names: alike ones first, then in the order of the code.
  void PairEqual(std::vector<uint32_t> SiteKeys::*level) {
    std::map<std::vector<uint32_t>, std::array<std::vector<size_t>, 2>> groups;
    for (const int which : {0, 1}) {
      for (const size_t i : Unmatched(which)) {
        const ProfileSite& site = sides_[which].sites[i];
        std::vector<uint32_t> key = {site.kind, site.device_ordinal};
        const std::vector<uint32_t>& names = sides_[which].names[i].*level;
        key.insert(key.end(), names.begin(), names.end());
        groups[std::move(key)][static_cast<size_t>(which)].push_back(i);
      }
    }
    for (auto& [key, members] : groups) {
      if (members[0].empty() || members[1].empty()) continue;
      for (const int which : {0, 1}) SortByPlace(which, &members[static_cast<size_t>(which)]);
      const auto pairs = PairCheapest(members[0].size(), members[1].size(), 1e9, [&](size_t b, size_t n) {
        const ProfileSite &old = sides_[0].sites[members[0][b]], &now = sides_[1].sites[members[1][n]];
        const double distance = Saturated(ShapeDistance(old, now));
        // Where one of the calls is new or gone, their numbers say less than when they first allocated.
        if (members[0].size() != members[1].size()) return distance + std::fabs(old.phase - now.phase) / 2;
        return distance + (b == n ? 0 : kOtherPlace);
      });
      for (const auto& [b, n] : pairs) Pair(members[0][b], members[1][n]);
    }
  }

  void SortByPlace(int which, std::vector<size_t>* sites) const {
    const std::vector<ProfileSite>& all = sides_[which].sites;
    std::sort(sites->begin(), sites->end(),
              [&all](size_t a, size_t b) { return std::tie(all[a].position, a) < std::tie(all[b].position, b); });
  }

  // Names that only one run has, by number.
  std::vector<bool> Vocabulary(int which) const {
    std::vector<bool> known(table_.size());
    for (const SiteKeys& names : sides_[which].names) {
      for (const uint32_t name : names.whole) known[name] = true;
    }
    return known;
  }

  bool ApplyInferred() {
    std::array<std::vector<RenameCandidate>, 2> candidates;
    for (const int which : {0, 1}) {
      for (const size_t i : Unmatched(which)) {
        candidates[static_cast<size_t>(which)].push_back({&sides_[which].sites[i], &sides_[which].names[i]});
      }
    }
    const std::map<uint32_t, uint32_t> found =
        InferRenames(candidates[0], candidates[1], Vocabulary(0), Vocabulary(1), table_);
    for (const auto& [old, now] : found) {
      renames_.insert(renames_.begin() + static_cast<std::ptrdiff_t>(inferred_.size()),
                      {table_.Text(old), table_.Text(now)});
      inferred_.push_back({table_.Text(old), table_.Text(now)});
    }
    if (found.empty()) return false;
    for (SiteKeys& names : sides_[0].names) {
      for (uint32_t& name : names.whole) {
        if (const auto renamed = found.find(name); renamed != found.end()) name = renamed->second;
      }
    }
    // Folded names have no folders.
    for (size_t i = 0; i < sides_[0].names.size(); ++i) {
      sides_[0].names[i].folded = NamesOf(sides_[0].sites[i], renames_, &table_).folded;
    }
    return true;
  }

  std::vector<size_t> ToAlign(int which) const {
    const std::vector<ProfileSite>& all = sides_[which].sites;
    std::vector<size_t> left;
    for (const size_t i : Unmatched(which)) {
      if (!all[i].segments) left.push_back(i);
    }
    if (left.size() <= kMaxAligned) return left;
    std::stable_sort(left.begin(), left.end(), [&all](size_t a, size_t b) { return Volume(all[a]) > Volume(all[b]); });
    left.resize(kMaxAligned);
    return left;
  }

  FrameWeights Weights() const { return FrameWeights(sides_[0].names, sides_[1].names, table_.size()); }

  void Align() {
    const std::vector<size_t> base = ToAlign(0), next = ToAlign(1);
    if (base.empty() || next.empty()) return;
    const FrameWeights weights = Weights();
    const auto pairs = PairCheapest(base.size(), next.size(), 1, [&](size_t b, size_t n) {
      const ProfileSite &old = sides_[0].sites[base[b]], &now = sides_[1].sites[next[n]];
      if (LevelOf(old.kind) != LevelOf(now.kind) || old.device_ordinal != now.device_ordinal) return 2.0;
      const double similarity = weights.Similarity(sides_[0].names[base[b]].whole, sides_[1].names[next[n]].whole);
      const double distance = Saturated(ShapeDistance(old, now));
      if (similarity < (distance == 0 && old.kind == now.kind ? kSimilarForAlike : kSimilar)) return 2.0;
      // By similarity, and how alike they allocate where that is about the same.
      return std::round((1 - similarity) * 20) / 20 + distance / 100;
    });
    for (const auto& [b, n] : pairs) Pair(base[b], next[n]);
  }

  // Code that was split allocates at two places what it allocated at one; merged code the other way round. The sites
  // without a partner of side `parts` that make up what is missing from a pair, and are called much alike, join it.
  void JoinParts(int parts, std::vector<size_t> SiteMatch::*whole, std::vector<size_t> SiteMatch::*pieces,
                 std::vector<SiteMatch>* matches) {
    const std::vector<size_t> left = ToAlign(parts);
    if (left.empty() || matches->empty()) return;
    const int other = 1 - parts;
    const FrameWeights weights = Weights();
    for (SiteMatch& match : *matches) {
      if ((match.*whole).size() != 1 || (match.*pieces).size() != 1) continue;
      const size_t one = (match.*whole)[0], piece = (match.*pieces)[0];
      const ProfileSite &all = sides_[other].sites[one], &rest = sides_[parts].sites[piece];
      const double missing = Volume(all) - Volume(rest);
      if (missing <= kSameVolume * Volume(all)) continue;
      for (const size_t i : left) {
        const ProfileSite& site = sides_[parts].sites[i];
        if (sides_[parts].partner[i] != kNone || site.kind != all.kind || site.device_ordinal != all.device_ordinal) {
          continue;
        }
        if (std::fabs(Volume(site) - missing) > kSameVolume * missing) continue;
        if (weights.Similarity(sides_[other].names[one].whole, sides_[parts].names[i].whole) < kSimilarForAlike)
          continue;
        (match.*pieces).push_back(i);
        sides_[parts].partner[i] = one;
        break;
      }
    }
  }

  // Bytes allocated in a step that allocates.
  static double Volume(const ProfileSite& site) { return site.births_per_active_step * site.bytes_per_birth; }

  std::array<Side, 2> sides_;
  RenameMap renames_, inferred_;
  NameTable table_;
};

}  // namespace

SiteMatching MatchSites(const std::vector<ProfileSite>& base, const std::vector<ProfileSite>& next,
                        const RenameMap& renames) {
  return Matcher(base, next, renames).Run();
}

}  // namespace vramtrack
