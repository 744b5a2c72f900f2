// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_DEVICE_LEVELS_H_
#define ANALYZER_FINDINGS_CORE_DEVICE_LEVELS_H_

#include "analyzer/leaks/growth.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// As the ledger's timeline has them, one after the other.
enum class DeviceFigure { kUsed, kReserved, kLive };

// Of complete steps. Only for a timeline in steps.
LevelSeries LevelsOf(const Ledger& ledger, const Scope& scope, DeviceFigure figure);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_DEVICE_LEVELS_H_
