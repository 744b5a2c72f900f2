// SPDX-License-Identifier: Apache-2.0
//
// libcupti for the simulated device: the public calls that the tracer makes, with records of what the simulated driver
// does. Faults on demand, see faults.h. SIMCUPTI_VERSION is what it says of itself.
#include <cupti.h>
#include <unistd.h>

#include "tests/simcupti/driver_table.h"
#include "tests/simcupti/faults.h"
#include "tests/simcupti/record_types.h"
#include "tests/simcupti/records.h"
#include "tests/simcupti/state.h"

namespace vramtrack::simcupti {

#pragma GCC visibility push(default)
extern "C" {

// In the library that is made for a wheel: the number in its soname.
__attribute__((weak)) extern const int simcuda_library_major;

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  SIMCUPTI_MAY_FAIL();
  *version = SIMCUPTI_VERSION;
  if (&simcuda_library_major != nullptr && simcuda_library_major < 13) *version = simcuda_library_major < 12 ? 18 : 28;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* ns) {
  const PublicCall call(__func__);
  SIMCUPTI_MAY_FAIL();
  *ns = Now();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp) {
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  state.timestamp = timestamp;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
  SIMCUPTI_MAY_FAIL();
  switch (result) {
    case CUPTI_ERROR_NOT_INITIALIZED:
      *text = "CUPTI_ERROR_NOT_INITIALIZED";
      return CUPTI_SUCCESS;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      return CUPTI_SUCCESS;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      return CUPTI_SUCCESS;
    case CUPTI_ERROR_UNKNOWN:
      *text = "CUPTI_ERROR_UNKNOWN";
      return CUPTI_SUCCESS;
    default:
      return CUPTI_ERROR_INVALID_PARAMETER;
  }
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                    CUpti_BuffersCallbackCompleteFunc complete) {
  const PublicCall call(__func__, true);
  SIMCUPTI_MAY_FAIL();
  if (Faults::Get().newer_than_driver) return CUPTI_ERROR_NOT_INITIALIZED;
  if (Faults::Get().taken) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  // What the one before had not got yet goes to the last one, as with the real one.
  state.request = request;
  state.complete = complete;
  return SetActivitySink(&kRecordSink);
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  const PublicCall call(__func__, true);
  SIMCUPTI_MAY_FAIL();
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (Faults::Get().no_permission) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (kind >= kKinds) return CUPTI_ERROR_INVALID_KIND;
  state.enabled[kind] = true;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  const PublicCall call(__func__);
  SIMCUPTI_MAY_FAIL();
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (kind >= kKinds) return CUPTI_ERROR_INVALID_KIND;
  state.enabled[kind] = false;
  return CUPTI_SUCCESS;
}

#ifdef SIMCUPTI_SOURCE
CUptiResult CUPTIAPI cuptiActivityEnableAllocationSource(uint8_t enable) {
  SIMCUPTI_MAY_FAIL();
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  state.source = enable != 0;
  return CUPTI_SUCCESS;
}
#endif

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flags) {
  const PublicCall call(__func__);
  SIMCUPTI_MAY_FAIL();
  if (Faults::Get().slow_us != 0) usleep(static_cast<useconds_t>(Faults::Get().slow_us));
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  if (Faults::Get().late && flags == 0) return CUPTI_SUCCESS;
  Deliver(&state);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
  const PublicCall call(__func__);
  SIMCUPTI_MAY_FAIL();
  auto* at = reinterpret_cast<uint8_t*>(*record);
  at = at == nullptr ? buffer : at + RecordBytes((*record)->kind);
  if (at >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  const PublicCall call(__func__);
  SIMCUPTI_MAY_FAIL();
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  *dropped = state.dropped;
  state.dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize() {
  const PublicCall call(__func__, true);
  PublicCall::Detached();
  State& state = GetState();
  std::lock_guard<std::recursive_mutex> lock(state.mutex);
  SetActivitySink(nullptr);
  state.request = nullptr;
  state.complete = nullptr;
  state.buffer = nullptr;
  state.timestamp = nullptr;
  for (bool& enabled : state.enabled) enabled = false;
  ForgetSubscriber();
  return CUPTI_SUCCESS;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace vramtrack::simcupti
