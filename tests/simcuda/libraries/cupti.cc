// SPDX-License-Identifier: Apache-2.0
// libcupti: everything succeeds, and no record of an activity ever comes. PyTorch's CPU library links it.
#include <cstddef>
#include <cstdint>

extern "C" {

int cuptiGetVersion(uint32_t* version) {
  *version = 130200;
  return 0;
}

int cuptiSubscribe(void** subscriber, void*, void*) {
  static char one;
  *subscriber = &one;
  return 0;
}

int cuptiGetResultString(int, const char** text) {
  *text = "status of the simulated CUPTI";
  return 0;
}

int cuptiGetCallbackName(int, uint32_t, const char** name) {
  *name = "simulated";
  return 0;
}

int cuptiActivityGetNextRecord(uint8_t*, size_t, void** record) {
  *record = nullptr;
  return 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
}

int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* count) {
  *count = 0;
  return 0;
}

int cuptiActivityPopExternalCorrelationId(int, uint64_t* id) {
  if (id != nullptr) *id = 0;
  return 0;
}

int cuptiGetTimestamp(uint64_t* ns) {
  *ns = 0;
  return 0;
}

}  // extern "C"
