// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/blame.h"

#include <algorithm>
#include <utility>

#include "analyzer/base/function_name.h"

namespace vramtrack {
namespace {

// So many other lines of the user's own must call a function without a leak before it is a wrapper.
constexpr size_t kWrapperCallers = 3;

bool IsOwnPython(const ReportFrame& frame) { return IsPython(frame) && IsOwn(frame); }

}  // namespace

struct BlameFinder::Node {
  ReportFrame frame;
  bool shared = false;  // with a clean site
  // Lines of the user's own from which clean sites come to it, up to kWrapperCallers.
  std::vector<ReportFrame> clean_callers;
  std::vector<std::unique_ptr<Node>> children;
};

bool SameFunction(const ReportFrame& a, const ReportFrame& b) {
  return !a.function.empty() && a.function == b.function && a.file == b.file && a.module == b.module;
}

bool SamePlace(const ReportFrame& a, const ReportFrame& b) {
  if (a.file != b.file || a.line != b.line) return false;
  // Without a line, the address distinguishes calls in one function.
  if (a.line == 0) return a.function == b.function && a.module == b.module && a.offset == b.offset;
  // A template is one line for all its types.
  return a.function == b.function ||
         (!IsPython(a) && !IsPython(b) && ShortFunctionName(a.function) == ShortFunctionName(b.function));
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
  Node* own = nullptr;  // the last of the user's own, whose caller is not known yet
  bool alike = true, whole = false;
  std::vector<Node*> in_common;
  while (alike ? !node->children.empty() || own != nullptr : own != nullptr) {
    const std::vector<ReportFrame> frames = next();
    if (frames.empty()) break;
    for (const ReportFrame& frame : frames) {
      if (IsOwnPython(frame) && own != nullptr) {
        std::vector<ReportFrame>& callers = own->clean_callers;
        const bool known = std::any_of(callers.begin(), callers.end(),
                                       [&frame](const ReportFrame& caller) { return SamePlace(caller, frame); });
        if (!known && callers.size() < kWrapperCallers) callers.push_back(frame);
        own = nullptr;
      }
      if (!alike) continue;
      auto* at = const_cast<Node*>(Find(*node, frame));
      alike = at != nullptr;
      if (!alike) continue;
      node = at;
      whole |= node->children.empty();
      in_common.push_back(node);
      if (IsOwnPython(frame)) own = node;
    }
  }
  // A leak's whole stack, as a reader sees it: what the first call there left tells nothing apart.
  if (whole) return;
  for (Node* shared : in_common) shared->shared = true;
}

// Out of wrappers, but not out of the user's code.
size_t BlameFinder::InnermostOwn(const std::vector<ReportFrame>& frames, size_t own) const {
  const Node* node = root_.get();
  for (size_t i = 0; i <= own && node != nullptr; ++i) node = Find(*node, frames[i]);
  while (node != nullptr && node->clean_callers.size() >= kWrapperCallers) {
    size_t caller = own + 1;
    while (caller < frames.size() && !frames[caller].installed && !IsOwnPython(frames[caller])) ++caller;
    if (caller == frames.size() || !IsOwnPython(frames[caller])) break;
    for (size_t i = own + 1; i <= caller && node != nullptr; ++i) node = Find(*node, frames[i]);
    own = caller;
  }
  return own;
}

size_t BlameFinder::Blame(const std::vector<ReportFrame>& frames) const {
  const std::optional<size_t> own = OwnFrame(frames);
  if (own && IsPython(frames[*own])) return InnermostOwn(frames, *own);
  const Node* node = root_.get();
  size_t blamed = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    node = Find(*node, frames[i]);
    if (node == nullptr) break;
    // Code of no file, such as a just-in-time compiler's, has no name that anybody could look for.
    if (node->shared || (frames[i].module.empty() && frames[i].file.empty())) continue;
    blamed = i;
    break;
  }
  // Of a function that calls itself, the line that allocates rather than the call that leads there.
  while (blamed > 0 && SameFunction(frames[blamed], frames[blamed - 1])) --blamed;
  blamed = NamingFrame(frames, blamed);
  if (!own || IsPython(frames[blamed])) return blamed;
  return OwnFrame(frames, blamed).value_or(blamed);
}

}  // namespace vramtrack
