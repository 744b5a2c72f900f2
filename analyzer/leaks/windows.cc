// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/windows.h"

#include <algorithm>

namespace vramtrack {
namespace {

constexpr Step kMinWarmup = 5;

Step TenthOf(Step steps) { return steps / 10 + (steps % 10 != 0 ? 1 : 0); }

}  // namespace

Step WarmupEnd(Step steps, Step structure_settled) { return std::max({kMinWarmup, TenthOf(steps), structure_settled}); }

}  // namespace vramtrack
