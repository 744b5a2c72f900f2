// SPDX-License-Identifier: Apache-2.0
//
// Caching pools of libraries whose blocks the trace does not have. Such a pool takes memory from CUDA when none of its
// free blocks fits. The code that asks at that moment need not be the code that keeps the others, so no line can be
// blamed for its growth.
#ifndef ANALYZER_ATTRIBUTION_LIBRARY_POOL_H_
#define ANALYZER_ATTRIBUTION_LIBRARY_POOL_H_

#include <vector>

#include "analyzer/model/frame.h"

namespace vramtrack {

struct LibraryPool {
  const char* name;     // "CuPy's memory pool"
  const char* setting;  // what shows its blocks, as an order: "call ..."
  const char* blocks;   // what they are: "arrays"
};

constexpr char kRmmSetting[] = "use rmm.mr.CudaAsyncMemoryResource";

// Returns the pool that took the memory which was allocated with this stack, or nullptr if there is none. `frames`:
// innermost first. If the functions of the pool's module have no names, its allocations without the pool look the same
// and count as the pool's.
const LibraryPool* LibraryPoolOf(const std::vector<ReportFrame>& frames);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_LIBRARY_POOL_H_
