// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/activity_names.h"

#include "absl/strings/strip.h"
#include "proto/schema_constants.h"

namespace vramtrack {
namespace {

struct Name {
  uint32_t kind, operation;
  const char* name;
};

// The numbers are CUPTI's, as cupti_activity.h has them.
constexpr Name kNames[] = {
    {schema::ACTIVITY_MEMORY, 1, "allocated"},
    {schema::ACTIVITY_MEMORY, 2, "given back"},
    {schema::ACTIVITY_MEMORY_POOL, 1, "created"},
    {schema::ACTIVITY_MEMORY_POOL, 2, "destroyed"},
    {schema::ACTIVITY_MEMORY_POOL, 3, "trimmed"},
    {schema::ACTIVITY_MEMCPY, 1, "host to device"},
    {schema::ACTIVITY_MEMCPY, 2, "device to host"},
    {schema::ACTIVITY_MEMCPY, 3, "host to array"},
    {schema::ACTIVITY_MEMCPY, 4, "array to host"},
    {schema::ACTIVITY_MEMCPY, 5, "array to array"},
    {schema::ACTIVITY_MEMCPY, 6, "array to device"},
    {schema::ACTIVITY_MEMCPY, 7, "device to array"},
    {schema::ACTIVITY_MEMCPY, 8, "device to device"},
    {schema::ACTIVITY_MEMCPY, 9, "host to host"},
    {schema::ACTIVITY_MEMCPY, 10, "peer to peer"},
    {schema::ACTIVITY_SYNCHRONIZATION, 1, "event"},
    {schema::ACTIVITY_SYNCHRONIZATION, 2, "stream waits for event"},
    {schema::ACTIVITY_SYNCHRONIZATION, 3, "stream"},
    {schema::ACTIVITY_SYNCHRONIZATION, 4, "context"},
    {schema::ACTIVITY_UNIFIED_MEMORY, 1, "bytes host to device"},
    {schema::ACTIVITY_UNIFIED_MEMORY, 2, "bytes device to host"},
    {schema::ACTIVITY_UNIFIED_MEMORY, 3, "page faults of the host"},
    {schema::ACTIVITY_UNIFIED_MEMORY, 4, "page faults of the device"},
    {schema::ACTIVITY_UNIFIED_MEMORY, 5, "thrashing"},
    {schema::ACTIVITY_UNIFIED_MEMORY, 6, "throttling"},
    {schema::ACTIVITY_UNIFIED_MEMORY, 7, "mapped remotely"},
    {schema::ACTIVITY_UNIFIED_MEMORY, 8, "bytes device to device"},
    {schema::ACTIVITY_MARKER, 1, "mark"},
    {schema::ACTIVITY_MARKER, 2, "range begins"},
    {schema::ACTIVITY_MARKER, 4, "range ends"},
#define VRAMTRACK_API_CALL(kind, name, number) {schema::ACTIVITY_##kind, number, #name},
#include "proto/api_calls.inc"
};

}  // namespace

std::string ActivityName(uint32_t kind) {
  const char* name = schema::ActivityKindName(kind);
  return name != nullptr ? std::string(absl::StripPrefix(name, "activity_")) : "activity " + std::to_string(kind);
}

const char* ActivityOperationName(uint32_t kind, uint32_t operation) {
  for (const Name& each : kNames) {
    if (each.kind == kind && each.operation == operation) return each.name;
  }
  return "";
}

}  // namespace vramtrack
