// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/allocating_package.h"

#include "analyzer/attribution/library.h"
#include "analyzer/attribution/python_file.h"

namespace vramtrack {

void AllocatingPackage::Pass(const ReportFrame& native) {
  if (IsPyTorch(native.module)) {
    where_ = Where::kOutside;
  } else if (where_ == Where::kNowhere) {
    where_ = Where::kBelow;
  }
}

bool AllocatingPackage::IsWithin(const ReportFrame& python) {
  // Without native frames it is not known what is in between.
  if (where_ == Where::kNowhere) where_ = Where::kOutside;
  if (where_ == Where::kOutside || python.origin == ReportFrame::Origin::kLibrary) return false;
  const std::string_view package = PythonPackage(python.file);
  if (where_ == Where::kBelow) package_ = package;
  where_ = !package.empty() && package == package_ ? Where::kWithin : Where::kOutside;
  return where_ == Where::kWithin;
}

}  // namespace vramtrack
