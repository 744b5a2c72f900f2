// SPDX-License-Identifier: Apache-2.0
//
// Regions that a program marks with numbers of its own.
#include "tests/simcupti/external_ids.h"

#include <cupti.h>

#include <vector>

namespace vramtrack::simcupti {
namespace {

thread_local std::vector<uint64_t> pushed[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

bool IsKind(CUpti_ExternalCorrelationKind kind) { return kind > 0 && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; }

}  // namespace

void TellExternalIds(State* state, uint32_t correlation) {
  for (int kind = 1; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
    if (pushed[kind].empty()) continue;
    auto* record = NewRecord<CUpti_ActivityExternalCorrelation>(state, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    if (record == nullptr) continue;
    record->externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
    record->externalId = pushed[kind].back();
    record->correlationId = correlation;
  }
}

#pragma GCC visibility push(default)
extern "C" {

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  if (!IsKind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  pushed[kind].push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t* last) {
  if (!IsKind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (pushed[kind].empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = pushed[kind].back();
  pushed[kind].pop_back();
  return CUPTI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace vramtrack::simcupti
