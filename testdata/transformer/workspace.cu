// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/workspace.h"

#include <utility>

namespace transformer {

TRANSFORMER_NOINLINE float* Workspace::Reserve(size_t count) {
  const bool leak = plan_->Due(Leak::kWorkspace);
  if (count <= buffer_.count() && !leak) return buffer_.data();
  DeviceBuffer<float> grown(count);
  if (leak) {
    // The pointer is overwritten, and what it pointed to is lost. So what was made in one such step stays for good in
    // the next: one buffer a step.
    plan_->Note(Leak::kWorkspace, grown);
    buffer_.Release();
  }
  buffer_ = std::move(grown);
  return buffer_.data();
}

}  // namespace transformer
