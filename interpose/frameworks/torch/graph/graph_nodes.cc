// SPDX-License-Identifier: Apache-2.0
#include "interpose/frameworks/torch/graph/graph_nodes.h"

#include "interpose/base/system_call.h"

namespace vramtrack::torch {

__thread GraphNodes::OwnRing GraphNodes::own_ __attribute__((tls_model("initial-exec")));

GraphRing* GraphNodes::TakeOwn() {
  uint64_t (*const current_thread)() = current_thread_.load(std::memory_order_relaxed);
  own_ = {this, rings_.Take(current_thread(), ThreadId())};
  return own_.ring;
}

GraphNodes::Learnt GraphNodes::Begin(const void* node, uint64_t frame, uint64_t python_frame, uint32_t later) {
  GraphRing* ring = Own();
  if (ring == nullptr) return Learnt::kNothing;
  Learnt learnt = Learnt::kNothing;
  if (layout_.known()) {
    later = 0;
  } else if (layout_.Learn(node, rings_, &later)) {
    learnt = layout_.known() ? Learnt::kLayout : Learnt::kHopeless;
  }
  GraphRing::Evaluation* evaluation = ring->Push(frame);
  if (evaluation == nullptr) return learnt;
  *evaluation = {frame, python_frame, later, later == 0 ? schema::NODE_NONE : schema::NODE_FUNCTION};
  if (layout_.known()) {
    const NodeLayout::Origin origin = layout_.OriginOf(node, rings_);
    evaluation->kind = origin.number == kNoNumber ? schema::NODE_ACCUMULATE : schema::NODE_FUNCTION;
    const GraphRing* makers = origin.number == kNoNumber ? nullptr : rings_.Of(origin.thread);
    evaluation->stack = makers == nullptr ? 0 : makers->StackOf(origin.number);
  }
  return learnt;
}

void GraphNodes::End(uint64_t frame) {
  if (own_.ring != nullptr) own_.ring->Drop(frame + 1);
}

void GraphNodes::Abandon() {
  if (own_.ring != nullptr) own_.ring->Pop();
}

CurrentNode GraphNodes::Current() {
  if (own_.of != this || own_.ring == nullptr) return {};
  // What was left by longjmp lies further in than we are.
  own_.ring->Drop(reinterpret_cast<uint64_t>(__builtin_frame_address(0)));
  const GraphRing::Evaluation* evaluation = own_.ring->Innermost();
  if (evaluation == nullptr) return {};
  return {evaluation->kind, evaluation->stack, evaluation->python_frame};
}

}  // namespace vramtrack::torch
