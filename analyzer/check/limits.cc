// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/limits.h"

namespace vramtrack {

const std::vector<LimitKind> kLimitKinds = {
    {"leak", "leak", LimitUnit::kBytesPerStep, &Limits::leak, true, false},
    {"leak_objects", "leak", LimitUnit::kObjectsPerStep, &Limits::leak_objects, true, false},
    {"leak_total", "leak-total", LimitUnit::kBytesPerStep, &Limits::leak_total, true, true},
    {"peak", "peak", LimitUnit::kBytes, &Limits::peak, true, true},
    {"reserved", "reserved", LimitUnit::kBytes, &Limits::reserved, true, false},
    {"device_used", "device-used", LimitUnit::kBytes, &Limits::device_used, true, false},
    {"growth", "growth", LimitUnit::kBytesPerStep, &Limits::growth, true, true},
    {"fragmentation", "fragmentation", LimitUnit::kBytesOrShare, &Limits::fragmentation, true, false},
    {"steps_to_oom", "time-to-oom", LimitUnit::kSteps, &Limits::steps_to_oom, true, false},
};

}  // namespace vramtrack
