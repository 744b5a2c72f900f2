// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/frame_text.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "analyzer/base/function_name.h"
#include "analyzer/base/quantity.h"

namespace vramtrack {

std::string TypeName(const std::type_info& type) {
  int status = 0;
  char* const whole = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = absl::StrReplaceAll(whole, {{"vramtrack::", ""}, {"::", ""}});
  std::free(whole);
  if (name.rfind("Report", 0) == 0 && name != "Report") name.erase(0, 6);
  return name;
}

namespace {

constexpr size_t kCalleesShown = 3;  // frames below the marked one: what it called
constexpr int kNarrowestLocation = 24;

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string ModuleAndOffset(const ReportFrame& frame) {
  if (frame.module.empty()) return "unknown code";
  return absl::StrFormat("%s+0x%x", Printable(BaseName(frame.module)), frame.offset);
}

// How many frames there are up to main; all if it is not among them.
size_t WithoutStartUp(const std::vector<ReportFrame>& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].function == "main" && frames[i].language != Language::kPython) return i + 1;
  }
  return frames.size();
}

bool IsOwnPython(const ReportFrame& frame) { return IsPython(frame) && IsOwn(frame); }

bool SameLine(const ReportFrame& a, const ReportFrame& b) {
  return a.function == b.function && a.file == b.file && a.line == b.line;
}

// Which of the first `all` frames to show. Of Python all of the user's own, but for those of a recursion; of others as
// many as there is room for, the nearest to `marked` first.
std::vector<bool> ShownFrames(const std::vector<ReportFrame>& frames, size_t all, size_t marked, size_t most) {
  std::vector<bool> shown(all, all <= most);
  if (all <= most) return shown;
  size_t left = most;
  const auto show = [&](size_t i) {
    if (shown[i]) return;
    shown[i] = true;
    left -= std::min<size_t>(left, 1);
  };
  for (size_t i = 0; i < all; ++i) {
    if (i == marked || frames[i].origin == ReportFrame::Origin::kTruncated ||
        (IsOwnPython(frames[i]) && !(i > 0 && SameLine(frames[i], frames[i - 1]))))
      show(i);
  }
  const size_t callees = std::min(kCalleesShown, most / 2);
  const size_t first = marked < all ? std::min(marked - std::min(marked, callees), all - most) : 0;
  for (size_t i = first; i < all && left > 0; ++i) show(i);
  for (size_t i = first; i-- > 0 && left > 0;) show(i);
  return shown;
}

// The line that stands for frames from `begin` to `end` of `all`.
std::string LeftOut(const std::vector<ReportFrame>& frames, size_t begin, size_t end, size_t all) {
  if (end == all) return absl::StrCat("  (", Plural(end - begin, "more caller", "more callers"), ")");
  if (begin == 0) return absl::StrCat("  (", Plural(end, "inner frame", "inner frames"), " hidden)");
  std::string package;
  for (size_t i = begin; i < end; ++i) {
    const std::string& file = frames[i].shown_file;
    const std::string of = frames[i].installed ? file.substr(0, file.find('/')) : "";
    if (i > begin && of != package) return absl::StrCat("  (", end - begin, " more)");
    package = of;
  }
  return absl::StrCat("  (", end - begin, " more", package.empty() ? "" : " of " + Printable(package), ")");
}

}  // namespace

std::string FrameLocation(const ReportFrame& frame) {
  if (frame.origin == ReportFrame::Origin::kNode) return "(backward)";
  if (frame.origin == ReportFrame::Origin::kCupti) return "(only CUPTI saw it)";
  if (frame.origin == ReportFrame::Origin::kTruncated) return "(callers not recorded)";
  if (frame.language == Language::kAllocator) return Printable(BaseName(frame.module));
  if (frame.file.empty()) return ModuleAndOffset(frame);
  std::string file = Printable(frame.shown_file.empty() ? frame.file : frame.shown_file);
  return frame.line == 0 ? file : absl::StrCat(file, ":", frame.line);
}

std::string FrameFunction(const ReportFrame& frame) {
  const bool whole = frame.language == Language::kPython || frame.language == Language::kAllocator;
  std::string name = whole ? frame.function : ShortFunctionName(frame.function);
  name = Printable(name);
  return frame.file.empty() && name == ModuleAndOffset(frame) ? "" : name;
}

std::string ShortName(const ReportFrame& frame) {
  std::string name = FrameFunction(frame);
  return name == frame.function ? "" : name;
}

std::string FunctionBehindLocation(const ReportFrame& frame) {
  const std::string function = FrameFunction(frame);
  if (function.empty()) return "";
  return absl::StrCat(frame.language == Language::kPython ? " in " : "  ", function);
}

std::string FramePlace(const ReportFrame* frame) {
  return frame == nullptr ? "(no stack recorded)" : FrameLocation(*frame) + FunctionBehindLocation(*frame);
}

CodePlace PlaceOf(const ReportFrame* frame) {
  if (frame == nullptr) return {FramePlace(frame), "", ""};
  return {FrameLocation(*frame), FrameFunction(*frame), FunctionBehindLocation(*frame)};
}

std::string StackPlace(const std::vector<ReportFrame>& stack) {
  return stack.empty() ? "an unknown place" : FramePlace(&stack[NamingFrame(stack, 0)]);
}

std::vector<std::string> StackLines(const TextStyle& style, const std::vector<ReportFrame>& frames, size_t marked,
                                    size_t most) {
  const std::vector<bool> shown = ShownFrames(frames, WithoutStartUp(frames), marked, most);
  const size_t all = shown.size();
  int functions = 0;
  for (size_t i = 0; i < all; ++i) {
    if (shown[i]) functions = std::max(functions, DisplayWidth(FrameFunction(frames[i])));
  }
  functions = std::min(functions, std::max(style.columns - 2 - 2 - kNarrowestLocation, style.columns / 2));
  int locations = style.columns - functions - 4;

  std::vector<std::string> lines;
  for (size_t i = 0; i < all; ++i) {
    if (!shown[i]) {
      size_t end = i;
      while (end < all && !shown[end]) ++end;
      lines.push_back(Painted(style, Paint::kDim, LeftOut(frames, i, end, all)));
      i = end - 1;
      continue;
    }
    std::string line = i == marked ? (style.unicode ? "→ " : "> ") : "  ";
    std::string function = FrameFunction(frames[i]);
    if (function.empty()) function = "(no symbol)";
    line += PadRight(CutEnd(function, functions), functions);
    line += "  ";
    line += CutBeginning(FrameLocation(frames[i]), locations);
    if (!frames[i].forward && i + 1 < frames.size() && frames[i + 1].forward) line += " of the call below";
    lines.push_back(Painted(style, i == marked ? Paint::kBold : Paint::kPlain, line));
  }
  return lines;
}

}  // namespace vramtrack
