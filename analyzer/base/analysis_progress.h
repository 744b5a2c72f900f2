// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_ANALYSIS_PROGRESS_H_
#define ANALYZER_BASE_ANALYSIS_PROGRESS_H_

#include <atomic>
#include <cstdint>

namespace vramtrack {

// The progress of an analysis, for a reader in another thread.
struct AnalysisProgress {
  std::atomic<uint64_t> events{0};  // events read so far, in all passes together
  // Events of the traces that were started, counted once for each planned or finished pass.
  std::atomic<uint64_t> planned_events{0};
  // For the trace that was started last: the present pass, counted from 1, and the number of passes.
  std::atomic<uint64_t> pass{0}, passes{0};
  std::atomic<uint64_t> files{0};  // finished files
  std::atomic<uint64_t> all_files{0};
};

}  // namespace vramtrack

#endif  // ANALYZER_BASE_ANALYSIS_PROGRESS_H_
