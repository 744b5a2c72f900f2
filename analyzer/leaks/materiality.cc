// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/materiality.h"

#include <algorithm>

namespace vramtrack {
namespace {

constexpr double kMinMaterialBytes = 1 << 20;
constexpr double kMaterialDeviceShare = 1e-4;
constexpr double kMaterialObjects = 1000;

}  // namespace

bool IsMaterial(const Rate& rate, const RunShape& run) {
  const double horizon_steps = static_cast<double>(run.horizon_steps);
  if (rate.bytes_per_step <= 0) return rate.objects_per_step * horizon_steps >= kMaterialObjects;
  const double least = std::max(kMinMaterialBytes, kMaterialDeviceShare * static_cast<double>(run.device_total_bytes));
  return rate.bytes_per_step * horizon_steps >= least;
}

}  // namespace vramtrack
