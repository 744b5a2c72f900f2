// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/joined_stacks.h"

#include "proto/message_writer.h"

namespace vramtrack {

uint32_t JoinStacks(uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node, StackTable* stacks,
                    Lane* lane) {
  if (python == 0 && forward == 0 && node == schema::NODE_NONE) return native;
  const uint64_t words[] = {native | uint64_t{python} << 32, forward | uint64_t{node} << 32};
  const uint32_t joined = stacks->Intern({StackWords::kJoined, 0, words, 2}, lane, [&](uint32_t number) {
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
  });
  return joined != 0 ? joined : native;
}

}  // namespace vramtrack
