// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_cards.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace vramtrack {
namespace {

// What a process had of a card at an instant.
uint64_t ReservedAt(const CardUse& use, double seconds) {
  if (seconds < use.began_s || seconds > use.ended_s) return 0;
  const auto span = std::lower_bound(use.until_s.begin(), use.until_s.end(), seconds);
  if (span == use.until_s.end()) return use.last;
  return use.reserved[static_cast<size_t>(span - use.until_s.begin())];
}

// From `seconds` on, a process has so many bytes.
struct Change {
  double seconds;
  size_t process;
  uint64_t bytes;
  bool rises;
};

// One change for each instant, as the last one there is what counts.
void AddChanges(const CardUse& use, size_t process, std::vector<Change>* changes) {
  const size_t first = changes->size();
  const auto add = [&](double seconds, uint64_t bytes) {
    if (changes->size() > first && changes->back().seconds == seconds) changes->pop_back();
    const uint64_t before = changes->size() > first ? changes->back().bytes : 0;
    changes->push_back({seconds, process, bytes, bytes > before});
  };
  double begin = use.began_s;
  for (size_t i = 0; i < use.until_s.size(); ++i) {
    add(begin, use.reserved[i]);
    begin = std::max(begin, use.until_s[i]);
  }
  add(begin, use.last);
  add(std::max(begin, use.ended_s), 0);
}

}  // namespace

void JobCards::Add(uint32_t pid, std::optional<int> rank, std::vector<CardUse> uses) {
  for (CardUse& use : uses) {
    if (!use.uuid.empty() && use.until_s.size() == use.reserved.size()) uses_.push_back({pid, rank, std::move(use)});
  }
}

std::vector<ReportCard> JobCards::Finish() {
  std::map<std::string, std::vector<const Use*>> cards;
  for (const Use& use : uses_) cards[use.use.uuid].push_back(&use);
  std::vector<ReportCard> shared;
  for (auto& [uuid, uses] : cards) {
    if (uses.size() < 2) continue;
    std::sort(uses.begin(), uses.end(), [](const Use* a, const Use* b) {
      return std::make_tuple(a->use.began_s, a->pid) < std::make_tuple(b->use.began_s, b->pid);
    });
    shared.push_back(Describe(uses));
  }
  return shared;
}

ReportCard JobCards::Describe(const std::vector<const Use*>& uses) {
  ReportCard card;
  const double first = uses.front()->use.began_s;
  std::vector<Change> changes;
  double asked_s = 0;
  uint64_t in_use = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    const CardUse& use = uses[i]->use;
    card.uuid = use.uuid;
    if (card.name.empty()) card.name = use.name;
    card.total_bytes = std::max(card.total_bytes, use.total_bytes);
    ReportCard::Process& process = card.processes.emplace_back();
    process.pid = uses[i]->pid;
    process.rank = uses[i]->rank;
    process.device = use.device;
    process.began_s = use.began_s - first;
    process.ended_s = use.ended_s - first;
    process.peak = use.peak;
    process.last = use.last;
    AddChanges(use, i, &changes);
    if (use.asked_s > asked_s) {
      asked_s = use.asked_s;
      in_use = use.in_use;
    }
  }
  // At one instant falls come before rises: what one process frees, another one can have.
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::make_tuple(a.seconds, a.rises, a.process) < std::make_tuple(b.seconds, b.rises, b.process);
  });
  std::vector<uint64_t> now(uses.size());
  uint64_t together = 0;
  size_t after = 0;  // how many changes had come when it was most
  for (size_t i = 0; i < changes.size(); ++i) {
    uint64_t& of = now[changes[i].process];
    together += changes[i].bytes - of;
    of = changes[i].bytes;
    if (together <= card.most) continue;
    card.most = together;
    card.most_s = changes[i].seconds - first;
    after = i + 1;
  }
  for (size_t i = 0; i < after; ++i) card.processes[changes[i].process].at_most = changes[i].bytes;
  if (asked_s > 0) {
    uint64_t known = 0;
    for (const Use* use : uses) known += ReservedAt(use->use, asked_s);
    card.others = in_use > known ? in_use - known : 0;
  }
  return card;
}

}  // namespace vramtrack
