// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_BATCH_LOADER_H_
#define TESTDATA_TRANSFORMER_BATCH_LOADER_H_

#include <vector>

#include "testdata/transformer/batch.h"
#include "testdata/transformer/leak_plan.h"
#include "testdata/transformer/pinned_buffer.h"

namespace transformer {

// Copies batches to the device through pinned staging buffers. `plan` must outlive this object.
class BatchLoader {
 public:
  explicit BatchLoader(LeakPlan* plan) : plan_(plan) {}

  Batch Upload(const HostBatch& host);

 private:
  LeakPlan* const plan_;
  std::vector<PinnedBuffer> in_flight_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_BATCH_LOADER_H_
