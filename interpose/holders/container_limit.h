// SPDX-License-Identifier: Apache-2.0
//
// How many entries a container takes at most, where the program says so: a cache below its limit grows like a leak.
#ifndef INTERPOSE_HOLDERS_CONTAINER_LIMIT_H_
#define INTERPOSE_HOLDERS_CONTAINER_LIMIT_H_

#include <cstdint>

#include "interpose/holders/object_walk.h"

namespace vramtrack::holders {

// Returns the limit of a container with so many `entries`: maxlen of a deque, maxsize of an lru_cache, or a number that
// the object which has it as an attribute calls capacity, maxsize or the like. A limit that it is past is none. Returns
// 0 if there is none. `entry` is of a Python object.
uint64_t LimitOf(const Entry& entry, uint64_t entries, ObjectWalk* walk);

}  // namespace vramtrack::holders

#endif  // INTERPOSE_HOLDERS_CONTAINER_LIMIT_H_
