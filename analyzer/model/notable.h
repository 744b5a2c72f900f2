// SPDX-License-Identifier: Apache-2.0
//
// Which figures of a report matter enough for a sentence. Renderers say what these functions decide, so that all of
// them say the same.
#ifndef ANALYZER_MODEL_NOTABLE_H_
#define ANALYZER_MODEL_NOTABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/model/device.h"
#include "analyzer/model/fragmentation.h"
#include "analyzer/model/oom.h"
#include "analyzer/model/run.h"
#include "analyzer/model/site.h"

namespace vramtrack {

// Returns whether at least a twentieth of the bytes reserved at their peak was free but pinned, and one site pinned a
// notable part of it.
bool IsMuchPinned(const ReportFragmentation& fragmentation);

// Returns how many of `pins`, which are sorted by bytes, pin at least 1 MiB and a twentieth of `all` bytes.
size_t NotablePins(const std::vector<ReportPin>& pins, uint64_t all);

// Returns whether a pool of the driver keeps all unused memory: programs set the largest number as the threshold.
bool KeepsEverything(const ReportMemoryPool& pool);

// Returns whether a driver-level site holds at least a twentieth of what is used on the device at its peak and is not a
// segment of a framework's allocator.
bool IsNotableInDriver(const ReportSite& site, const ReportDevice& device);

// Returns whether steps cover less of the run than 95 %. False if the coverage was not measured.
bool LeaveMuchUncovered(const ReportSteps& steps);

// Returns the share of the run that could not be judged, 0 to 1; 0 if it is less than 5 %.
double NotableUnjudgedShare(const ReportSteps& steps);

// Returns whether `bytes` are at least a hundredth of `all`: a smaller category is part of the rest.
bool IsNotableCategory(uint64_t bytes, uint64_t all);

// Returns whether the device is the one that docs/internals/simulated-cuda.md describes, which is in the host's memory.
bool IsSimulated(const ReportDevice& device);

// Returns whether the job itself had the segments released (empty_cache()), not the allocator when it found no room.
bool AskedByJob(const ReportRelease& release);

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_NOTABLE_H_
