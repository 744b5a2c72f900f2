// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOB_CARDS_H_
#define ANALYZER_JOB_JOB_CARDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/card.h"

namespace vramtrack {

// Puts the processes of a job that used the same card side by side. The result does not depend on the order of Add.
// Thread-compatible.
class JobCards {
 public:
  void Add(uint32_t pid, std::optional<int> rank, std::vector<CardUse> uses);

  // Returns the cards that several processes used, by UUID.
  std::vector<ReportCard> Finish();

 private:
  struct Use {
    uint32_t pid;
    std::optional<int> rank;
    CardUse use;
  };
  static ReportCard Describe(const std::vector<const Use*>& uses);

  std::vector<Use> uses_;
};

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_CARDS_H_
