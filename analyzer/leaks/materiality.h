// SPDX-License-Identifier: Apache-2.0
//
// Decides whether a leak will matter before the run ends.
#ifndef ANALYZER_LEAKS_MATERIALITY_H_
#define ANALYZER_LEAKS_MATERIALITY_H_

#include "analyzer/leaks/rate.h"
#include "analyzer/leaks/site_history.h"

namespace vramtrack {

// Returns whether a leak adds up to at least 1 MiB over the run's horizon, or to a ten-thousandth of the device if that
// is more. A smaller leak is real but minor. Objects without bytes (events, streams) matter from a thousand on.
bool IsMaterial(const Rate& rate, const RunShape& run);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_MATERIALITY_H_
