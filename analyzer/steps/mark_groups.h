// SPDX-License-Identifier: Apache-2.0
//
// Marks of several kinds, and which of them tell where a step ends.
#ifndef ANALYZER_STEPS_MARK_GROUPS_H_
#define ANALYZER_STEPS_MARK_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

// Marks that mean the same: of one optimizer called at one place, say.
struct MarkGroup {
  uint64_t count = 0, first_time = 0, last_time = 0;

  void Add(uint64_t time) { AddMany(1, time, time); }
  void AddMany(uint64_t more, uint64_t first, uint64_t last) {
    if (more == 0) return;
    if (count == 0 || first < first_time) first_time = first;
    if (count == 0 || last > last_time) last_time = last;
    count += more;
  }
};

// Less is no rhythm.
constexpr uint64_t kMinMarks = 4;

// The groups whose marks end steps. Groups that take turns in time are the phases of a job, and all of them count. Of
// those that are interleaved one does: a step has several optimizers (a GAN), so it is the one that comes most rarely
// while it is there throughout, as a loop may call another one several times. Returns indices, ascending.
std::vector<size_t> SelectGroups(const std::vector<MarkGroup>& groups);

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_MARK_GROUPS_H_
