// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_devices.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

// Those of a device.
template <class Picture>
std::vector<Picture> Take(uint32_t device, std::vector<Picture>* from) {
  std::vector<Picture> taken;
  for (Picture& picture : *from) {
    if (picture.device != device) continue;
    taken.push_back(std::move(picture));
  }
  return taken;
}

uint64_t HeightOf(const ReportTimeline& timeline) {
  const std::vector<uint64_t>& high = timeline.live.high;
  return high.empty() ? 0 : *std::max_element(high.begin(), high.end());
}
uint64_t HeightOf(const ReportPeakLines& lines) { return lines.live; }
uint64_t HeightOf(const ReportPeakStacks& stacks) { return stacks.live; }

bool IsEmpty(const ReportTimeline& timeline) { return timeline.live.high.empty(); }
bool IsEmpty(const ReportPeakLines&) { return false; }
bool IsEmpty(const ReportPeakStacks&) { return false; }

// Whether what `process` has comes into the place of what another one has.
bool IsToBeShown(uint64_t bytes, const JobProcess& process, uint64_t other_bytes, const JobProcess* other) {
  return other == nullptr || bytes > other_bytes || (bytes == other_bytes && IsBefore(process, *other));
}

template <class Picture>
void MoveAll(std::vector<Picture>* from, std::vector<Picture>* to) {
  to->insert(to->end(), std::make_move_iterator(from->begin()), std::make_move_iterator(from->end()));
}

}  // namespace

template <class Picture>
void JobDevices::TakeHigher(const JobProcess& process, std::vector<Picture>* from, OfHost<Picture>* highest) {
  for (Picture& picture : *from) {
    if (picture.device || IsEmpty(picture)) continue;
    const uint64_t height = HeightOf(picture);
    if (!IsToBeShown(height, process, highest->height, highest->of)) continue;
    highest->of = &process;
    highest->height = height;
    highest->picture = std::move(picture);
  }
}

void JobDevices::Add(const JobProcess& process, ProcessFindings* findings) {
  for (ReportDevice& device : findings->devices) {
    Shown& shown = devices_[device.index];
    shown.users += device.peak.reserved > 0;
    if (!IsToBeShown(device.peak.reserved, process, shown.device.peak.reserved, shown.of)) continue;
    shown.of = &process;
    shown.pictures = {Take(device.index, &findings->timeline), Take(device.index, &findings->peak_lines),
                      Take(device.index, &findings->peak_stacks)};
    shown.device = std::move(device);
  }
  TakeHigher(process, &findings->timeline, &host_);
  TakeHigher(process, &findings->peak_lines, &host_lines_);
  TakeHigher(process, &findings->peak_stacks, &host_stacks_);
}

void JobDevices::Finish(Report* report) {
  uint64_t numbers = 0, least = UINT64_MAX, most = 0;  // of the numbers that several processes used, and by how many
  const Shown* shared = nullptr;
  uint32_t number = 0;  // of it
  for (auto& [index, shown] : devices_) {
    shown.device.rank = shown.of->process.rank;
    shown.device.pid = shown.of->process.pid;
    shown.device.processes = shown.users;
    report->devices.push_back(std::move(shown.device));
    MoveAll(&shown.pictures.timeline, &report->timeline);
    MoveAll(&shown.pictures.lines, &report->peak_lines);
    MoveAll(&shown.pictures.stacks, &report->peak_stacks);
    if (shown.users < 2) continue;
    ++numbers;
    shared = &shown;
    number = index;
    least = std::min(least, shown.users);
    most = std::max(most, shown.users);
  }
  if (host_.of != nullptr) report->timeline.push_back(std::move(host_.picture));
  if (host_lines_.of != nullptr) report->peak_lines.push_back(std::move(host_lines_.picture));
  if (host_stacks_.of != nullptr) report->peak_stacks.push_back(std::move(host_stacks_.picture));
  if (numbers == 1) {
    report->warnings.push_back(absl::StrCat(most, " processes used a device with number ", number,
                                            ": its figures are those of process ", shared->of->process.pid,
                                            ", which held the most"));
  } else if (numbers > 1) {
    report->warnings.push_back(absl::StrCat(
        numbers, " numbers of devices were used by ", least == most ? "" : absl::StrCat(least, " to "), most,
        " processes each: the figures of a device are those of the process which held the most of it"));
  }
}

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
