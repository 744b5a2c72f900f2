// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_LIBRARY_H_
#define ANALYZER_ATTRIBUTION_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/frame.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Returns the name of a file without folders and without " (deleted)". The result points into `path`.
std::string_view ModuleName(std::string_view path);

// Returns whether the module at `path` only passes allocations on: CUDA's runtime and driver libraries, and vramtrack's
// own. Libraries that decide to allocate (cuBLAS, cuDNN, NCCL) do not count.
bool IsAllocationPlumbing(std::string_view path);

// Returns whether a library is one of vramtrack's own, whose hooks are between the caller and CUDA.
bool IsTracer(std::string_view path);

// Returns whether the module at `path` is a library of PyTorch's allocators, which allocate for others.
bool IsFrameworkAllocator(std::string_view path);

// Returns whether the module at `path` is one of PyTorch's libraries.
bool IsPyTorch(std::string_view path);

// Returns whether a function belongs to a CUDA runtime that was statically linked into a program. Functions in NVIDIA's
// archive have names of a special form, and its entry points call these. `inner`: the function that it calls; "" for
// none.
bool IsStaticRuntime(std::string_view function, std::string_view inner);

// Returns whether a module is an installed library: of the system, of CUDA or of a Python package. Such a module is not
// the user's own code.
bool IsInstalledLibrary(std::string_view path);

// Returns whether a source file is a header of the system or of an installed library.
bool IsSystemHeader(std::string_view file);

// Detects Python packages that allocate CUDA memory for others, as PyTorch does: Numba, CuPy, a user's own extension. A
// stack is then named after the caller of the package. If PyTorch is between the package and CUDA, the package is an
// ordinary caller, like the package of a model.
//
// Finds the package of one stack. The frames must be passed from the innermost one outwards. Thread-compatible.
class AllocatingPackage {
 public:
  // Passes a native frame, which may be framework-internal.
  void Pass(const ReportFrame& native);

  // Passes a Python frame. Returns whether it belongs to the allocating package. In that case there are only native
  // libraries and the package itself between it and the allocation.
  bool IsWithin(const ReportFrame& python);

 private:
  enum class Where {
    kNowhere,
    kBelow,
    kWithin,
    kOutside
  } where_ = Where::kNowhere;  // below: native frames were passed
  std::string package_;
};

// Caching pools of libraries whose blocks the trace does not have. Such a pool takes memory from CUDA when none of its
// free blocks fits. The code that asks at that moment need not be the code that keeps the others, so no line can be
// blamed for its growth.

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

#endif  // ANALYZER_ATTRIBUTION_LIBRARY_H_
