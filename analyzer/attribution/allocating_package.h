// SPDX-License-Identifier: Apache-2.0
//
// Detects Python packages that allocate CUDA memory for others, as PyTorch does: Numba, CuPy, a user's own extension. A
// stack is then named after the caller of the package. If PyTorch is between the package and CUDA, the package is an
// ordinary caller, like the package of a model.
#ifndef ANALYZER_ATTRIBUTION_ALLOCATING_PACKAGE_H_
#define ANALYZER_ATTRIBUTION_ALLOCATING_PACKAGE_H_

#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

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

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_ALLOCATING_PACKAGE_H_
