// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/blame.h"

#include <utility>

namespace vramtrack {

struct BlameFinder::Node {
  ReportFrame frame;
  bool shared = false;  // with a clean site
  std::vector<std::unique_ptr<Node>> children;
};

bool SamePlace(const ReportFrame& a, const ReportFrame& b) {
  if (a.function != b.function || a.file != b.file || a.line != b.line) return false;
  // Without a line, calls in one function are told apart by their address.
  return a.line != 0 || (a.module == b.module && a.offset == b.offset);
}

BlameFinder::BlameFinder() : root_(std::make_unique<Node>()) {}
BlameFinder::~BlameFinder() = default;

const BlameFinder::Node* BlameFinder::Find(const Node& node, const ReportFrame& frame) const {
  for (const std::unique_ptr<Node>& child : node.children) {
    if (SamePlace(child->frame, frame)) return child.get();
  }
  return nullptr;
}

void BlameFinder::AddLeak(const std::vector<ReportFrame>& frames) {
  Node* node = root_.get();
  for (const ReportFrame& frame : frames) {
    auto* next = const_cast<Node*>(Find(*node, frame));
    if (next == nullptr) {
      node->children.push_back(std::make_unique<Node>());
      next = node->children.back().get();
      next->frame = frame;
    }
    node = next;
  }
}

void BlameFinder::AddClean(const std::function<std::vector<ReportFrame>()>& next) {
  Node* node = root_.get();
  while (!node->children.empty()) {
    const std::vector<ReportFrame> frames = next();
    if (frames.empty()) return;
    for (const ReportFrame& frame : frames) {
      node = const_cast<Node*>(Find(*node, frame));
      if (node == nullptr) return;
      node->shared = true;
    }
  }
}

size_t BlameFinder::Blame(const std::vector<ReportFrame>& frames) const {
  const Node* node = root_.get();
  for (size_t i = 0; i < frames.size(); ++i) {
    node = Find(*node, frames[i]);
    if (node == nullptr) break;
    if (!node->shared) return NamingFrame(frames, i);
  }
  return NamingFrame(frames, 0);
}

}  // namespace vramtrack
