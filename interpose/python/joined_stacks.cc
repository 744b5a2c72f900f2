// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/joined_stacks.h"

#include "proto/message_writer.h"

namespace vramtrack {
namespace {

// One word that says it all, as long as there are not more than a million stacks; then a hash of it.
uint64_t WordOf(uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node) {
  constexpr int kBits = 20;
  constexpr uint64_t kPrime = 0x9e3779b97f4a7c15;
  static_assert(schema::NODE_ACCUMULATE < 16, "four bits are left");
  if (__builtin_expect((native | python | forward) >> kBits == 0, 1)) {
    return native | uint64_t{python} << kBits | uint64_t{forward} << 2 * kBits | uint64_t{node} << 3 * kBits;
  }
  uint64_t hash = (native | uint64_t{python} << 32) * kPrime;
  hash = (hash ^ hash >> 32 ^ forward ^ uint64_t{node} << 32) * kPrime;
  return (hash ^ hash >> 32) | 1;
}

bool Define(uint32_t number, uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node, Lane* lane) {
  namespace f = schema::joinedStack_field;
  uint8_t buffer[64];
  MessageWriter out(buffer, sizeof buffer);
  uint8_t* message = out.Begin(schema::definitions_field::joined_stacks);
  out.Varint(f::id, number);
  out.Varint(f::native, native);
  out.Varint(f::python, python);
  out.Varint(f::forward, forward);
  out.Varint(f::node, node);
  out.End(message);
  return lane->DefineEncoded(buffer, out.size());
}

}  // namespace

uint32_t JoinStacks(uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node, StackTable* stacks,
                    Lane* lane) {
  if (python == 0 && forward == 0 && node == schema::NODE_NONE) return native;
  const uint32_t joined = stacks->Intern(WordOf(native, python, forward, node), lane, [&](uint32_t number) {
    return Define(number, native, python, forward, node, lane);
  });
  return joined != 0 ? joined : native;
}

void DefineForward(uint32_t number, uint32_t stack, schema::GraphNode node, Lane* lane) {
  // What cannot be defined stays unknown.
  Define(number, 0, stack, 0, node, lane);
}

}  // namespace vramtrack
