// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/mixed_lifetimes.h"

#include <algorithm>
#include <utility>

#include "testdata/transformer/random.h"

namespace transformer {

TRANSFORMER_NOINLINE void MixedLifetimes::Step(uint64_t step) {
  const auto dead = [step](const Mortal& mortal) { return mortal.last_step < step; };
  mortals_.erase(std::remove_if(mortals_.begin(), mortals_.end(), dead), mortals_.end());
  Random random(seed_ * 15485863u + step);
  for (int i = 0; i < kBuffersPerStep; ++i) {
    // From 4 KiB to 1 MiB, every order of magnitude as likely as any other, and not in whole pages.
    const size_t bytes = (size_t{4096} << random.Below(9)) + 8 * static_cast<size_t>(random.Below(512));
    const uint64_t life = static_cast<uint64_t>(random.Between(1, kLongestLife));
    DeviceBuffer<char> buffer(bytes);
    mortals_.push_back({step + life - 1, std::move(buffer)});
  }
}

}  // namespace transformer
