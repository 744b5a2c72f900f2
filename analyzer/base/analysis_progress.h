// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_ANALYSIS_PROGRESS_H_
#define ANALYZER_BASE_ANALYSIS_PROGRESS_H_

#include <atomic>
#include <cstdint>

namespace vramtrack {

// How far an analysis is, for who watches it from another thread.
struct AnalysisProgress {
  std::atomic<uint64_t> events{0};  // replayed so far, in all replays together
  std::atomic<uint64_t> files{0};   // done
  std::atomic<uint64_t> all_files{0};
};

}  // namespace vramtrack

#endif  // ANALYZER_BASE_ANALYSIS_PROGRESS_H_
