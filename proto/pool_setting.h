// SPDX-License-Identifier: Apache-2.0
//
// The first value of a LIMIT event of a pool of stream-ordered memory: its handle and the attribute that was set
// (cudaMemPoolAttr), in one number.
#ifndef PROTO_POOL_SETTING_H_
#define PROTO_POOL_SETTING_H_

#include <cstdint>

namespace vramtrack {

constexpr int kPoolAttributeBits = 8;  // a handle is an address of the process, of 48 bits

constexpr uint64_t PoolSetting(uint64_t pool, uint32_t attribute) { return pool << kPoolAttributeBits | attribute; }

// AttributeOf returns which attribute was set. PoolOf returns the handle of the pool, 0 if the trace is older than
// handles in it.
constexpr uint32_t AttributeOf(uint64_t setting) { return setting & ((1u << kPoolAttributeBits) - 1); }
constexpr uint64_t PoolOf(uint64_t setting) { return setting >> kPoolAttributeBits; }

}  // namespace vramtrack

#endif  // PROTO_POOL_SETTING_H_
