// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/leaks/call_path.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "analyzer/attribution/blame.h"
#include "analyzer/attribution/glue.h"
#include "analyzer/attribution/python_file.h"
#include "analyzer/base/function_name.h"

namespace vramtrack {
namespace {

// The `index`-th frame from the outer end.
const ReportFrame& FromOuter(const std::vector<ReportFrame>& frames, size_t index) {
  return frames[frames.size() - 1 - index];
}

}  // namespace

size_t CommonCalls(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b) {
  size_t calls = 0;
  while (calls < std::min(a.size(), b.size()) && SamePlace(FromOuter(a, calls), FromOuter(b, calls))) ++calls;
  return calls;
}

const ReportFrame* CalledBy(const std::vector<ReportFrame>& frames, size_t calls) {
  return calls < frames.size() ? &FromOuter(frames, calls) : nullptr;
}

bool PartInOneFunction(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b, size_t calls) {
  const ReportFrame* left = CalledBy(a, calls);
  const ReportFrame* right = CalledBy(b, calls);
  return left != nullptr && right != nullptr && SameFunction(*left, *right);
}

bool CallsLibrary(const std::vector<ReportFrame>& frames, size_t calls) {
  if (calls == 0 || calls >= frames.size()) return false;
  const ReportFrame& line = FromOuter(frames, calls - 1);
  if (IsPython(line) && line.origin != ReportFrame::Origin::kJob) return false;
  for (size_t i = 0; i < frames.size() - calls; ++i) {
    const ReportFrame& inner = frames[i];
    const bool own =
        IsPython(line) ? IsPython(inner) && inner.origin == ReportFrame::Origin::kJob : inner.module == line.module;
    if (own) return false;
  }
  return true;
}

bool IsConstructor(const ReportFrame& frame) {
  if (IsPython(frame)) return UnqualifiedName(frame.function) == "__init__";
  std::string name = QualifiedName(frame.function);
  if (const size_t arguments = name.find('<'); arguments != std::string::npos) name.resize(arguments);
  const size_t colons = name.rfind("::");
  if (colons == std::string::npos) return false;
  const std::string function = name.substr(colons + 2);
  std::string scope = name.substr(0, colons);
  if (const size_t outer = scope.rfind("::"); outer != std::string::npos) scope = scope.substr(outer + 2);
  return !function.empty() && function == scope;
}

bool ShareModuleCall(const std::vector<ReportFrame>& a, const std::vector<ReportFrame>& b) {
  size_t i = a.size(), j = b.size();
  const auto next = [](const std::vector<ReportFrame>& frames, size_t* index) {
    while (*index > 0) {
      if (IsPython(frames[--*index])) return &frames[*index];
    }
    return static_cast<const ReportFrame*>(nullptr);
  };
  while (true) {
    const ReportFrame* left = next(a, &i);
    const ReportFrame* right = next(b, &j);
    if (left == nullptr || right == nullptr || !SamePlace(*left, *right)) return false;
    if (IsModuleCall(*left)) return true;
  }
}

std::string CallKey(const std::vector<ReportFrame>& frames, size_t calls) {
  std::string key;
  for (size_t i = 0; i < calls && i < frames.size(); ++i) {
    const ReportFrame& frame = FromOuter(frames, i);
    absl::StrAppend(&key, frame.function, "|", frame.file, "|", frame.line, "|", frame.line == 0 ? frame.offset : 0,
                    "\n");
  }
  if (const ReportFrame* called = CalledBy(frames, calls)) absl::StrAppend(&key, called->function, "|", called->file);
  return key;
}

}  // namespace vramtrack
