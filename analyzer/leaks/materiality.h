// SPDX-License-Identifier: Apache-2.0
//
// Whether a leak will matter before the run ends.
#ifndef ANALYZER_LEAKS_MATERIALITY_H_
#define ANALYZER_LEAKS_MATERIALITY_H_

#include "analyzer/leaks/rate.h"
#include "analyzer/leaks/site_history.h"

namespace vramtrack {

// What a leak must come to over the run's horizon: 1 MiB, or a ten-thousandth of the device if that is more. Below it
// the leak is real but minor. Objects without bytes (events, streams) matter from a thousand on.
bool IsMaterial(const Rate& rate, const RunShape& run);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_MATERIALITY_H_
