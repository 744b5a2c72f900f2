// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_STATISTICS_H_
#define TESTS_SIMCUDA_DEVICE_STATISTICS_H_

namespace vramtrack::simcuda {

// With SIMCUDA_STATS=1: what was called how often, and what each device still holds, on stderr when the process exits.
void PrintStatisticsAtExit();

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_STATISTICS_H_
