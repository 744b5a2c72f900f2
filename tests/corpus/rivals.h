// SPDX-License-Identifier: Apache-2.0
//
// The rules by which others call a site a leak, on the same runs. They are given what they need in the best form: live
// bytes of each site at the true end of each step, at every level, without a profiler's sampling. Rules about time take
// a step for a second; those of monitors see a site here and not the whole device.
#ifndef TESTS_CORPUS_RIVALS_H_
#define TESTS_CORPUS_RIVALS_H_

#include <optional>
#include <vector>

#include "tests/corpus/job_stream.h"

namespace vramtrack::corpus {

struct Rival {
  const char* name;
  // How bad a site is, for ranks; none: it is no leak.
  std::optional<double> (*judge)(const SiteRecord& site, int steps);
};

// Always in the same order.
const std::vector<Rival>& Rivals();

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_RIVALS_H_
