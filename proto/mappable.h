// SPDX-License-Identifier: Apache-2.0
#ifndef PROTO_MAPPABLE_H_
#define PROTO_MAPPABLE_H_

#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

// True for memory that has a handle, and addresses only while mapped.
constexpr bool IsMappable(uint32_t kind) {
  return kind == schema::PHYSICAL || kind == schema::GRAPH_POOL_PHYSICAL || kind == schema::HOST_PHYSICAL ||
         kind == schema::IMPORTED;
}

}  // namespace vramtrack

#endif  // PROTO_MAPPABLE_H_
