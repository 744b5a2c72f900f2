// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_ANALYSIS_PROGRESS_H_
#define ANALYZER_BASE_ANALYSIS_PROGRESS_H_

#include <atomic>
#include <cstdint>

namespace vramtrack {

// How far an analysis is, for who watches it from another thread.
struct AnalysisProgress {
  std::atomic<uint64_t> events{0};  // read so far, in all passes together
  // Events of the traces that were begun, once for each pass that is planned or was made.
  std::atomic<uint64_t> planned_events{0};
  std::atomic<uint64_t> pass{0}, passes{0};  // of the trace that was begun last: the present pass, from 1
  std::atomic<uint64_t> files{0};            // done
  std::atomic<uint64_t> all_files{0};
};

}  // namespace vramtrack

#endif  // ANALYZER_BASE_ANALYSIS_PROGRESS_H_
