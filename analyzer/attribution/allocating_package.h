// SPDX-License-Identifier: Apache-2.0
//
// A Python package that calls CUDA by itself (Numba, CuPy, an extension of one's own) gives out memory for others, as
// PyTorch does: a stack is then named by who called the package. Where PyTorch is in between, a package is the one who
// asks, as a model's package is.
#ifndef ANALYZER_ATTRIBUTION_ALLOCATING_PACKAGE_H_
#define ANALYZER_ATTRIBUTION_ALLOCATING_PACKAGE_H_

#include <string>

#include "analyzer/model/report.h"

namespace vramtrack {

// Of one stack, whose frames are shown to it from the inner end. Thread-compatible.
class AllocatingPackage {
 public:
  // A native frame, glue too.
  void Pass(const ReportFrame& native);

  // Whether the next Python frame is one of that package, nothing but libraries being between it and the allocation.
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
