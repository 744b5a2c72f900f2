// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/cufft.h"

#include <map>
#include <memory>
#include <mutex>

#include "tests/simcuda/libraries/workspace.h"

namespace vramtrack::simcuda {
namespace {

struct Plans {
  std::mutex mutex;
  std::map<cufftHandle, std::unique_ptr<Workspace>> workspaces;
  cufftHandle next = 0;
};

// Never destroyed: programs destroy their plans until the very end.
Plans& GetPlans() {
  static Plans& plans = *new Plans;
  return plans;
}

cufftResult Make(cufftHandle* plan, size_t points, cufftType type) {
  if (plan == nullptr) return 4;
  auto workspace = std::make_unique<Workspace>();
  if (points != 0 && !workspace->Take(points * CufftElementBytes(type))) return 2;
  Plans& plans = GetPlans();
  std::lock_guard<std::mutex> lock(plans.mutex);
  *plan = plans.next++;
  plans.workspaces[*plan] = std::move(workspace);
  return 0;
}

// 0 if any of them is not positive.
template <typename... Sizes>
size_t Points(Sizes... sizes) {
  return ((sizes > 0) && ...) ? (static_cast<size_t>(sizes) * ...) : 0;
}

cufftResult MakeSized(cufftHandle* plan, size_t points, cufftType type) {
  return points == 0 ? 4 : Make(plan, points, type);
}

}  // namespace

extern "C" {

cufftResult cufftCreate(cufftHandle* plan) { return Make(plan, 0, kCufftC2C); }

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  return MakeSized(plan, Points(nx, batch), type);
}

cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  return MakeSized(plan, Points(nx, ny), type);
}

cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  return MakeSized(plan, Points(nx, ny, nz), type);
}

cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int*, int, int, int*, int, int, cufftType type,
                          int batch) {
  if (n == nullptr || rank < 1 || rank > 3) return 4;
  size_t points = Points(batch);
  for (int index = 0; index < rank; ++index) points *= Points(n[index]);
  return MakeSized(plan, points, type);
}

// The caller brings the memory that is asked for here, in elements of `execution_type`, a cudaDataType.
cufftResult cufftXtMakePlanMany(cufftHandle, int rank, long long* n, long long*, long long, long long, int, long long*,
                                long long, long long, int, long long batch, size_t* work_bytes, int execution_type) {
  if (n == nullptr || rank < 1 || rank > 3 || work_bytes == nullptr) return 4;
  size_t points = Points(batch);
  for (int index = 0; index < rank; ++index) points *= Points(n[index]);
  constexpr int kReal64 = 1, kComplex64 = 5;
  *work_bytes = points * (execution_type == kComplex64 || execution_type == kReal64 ? 16 : 8);
  return 0;
}

cufftResult cufftDestroy(cufftHandle plan) {
  Plans& plans = GetPlans();
  std::unique_ptr<Workspace> workspace;
  std::lock_guard<std::mutex> lock(plans.mutex);
  const auto found = plans.workspaces.find(plan);
  if (found == plans.workspaces.end()) return 1;
  // Given back when the lock is.
  workspace = std::move(found->second);
  plans.workspaces.erase(found);
  return 0;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
