// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/frame_text.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/render/display_text.h"
#include "analyzer/render/function_name.h"
#include "analyzer/render/quantity.h"

namespace vramtrack {
namespace {

constexpr size_t kCalleesShown = 3;  // frames below the marked one: what it called
constexpr int kNarrowestLocation = 24;
constexpr char kAllocator[] = "allocator";  // language of what is no frame but a pool as a whole

std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string ModuleAndOffset(const ReportFrame& frame) {
  if (frame.module.empty()) return "unknown code";
  return absl::StrFormat("%s+0x%x", Printable(BaseName(frame.module)), frame.offset);
}

// How many frames there are up to main; all if it is not among them.
size_t WithoutStartUp(const std::vector<ReportFrame>& frames) {
  for (size_t i = 0; i < frames.size(); ++i) {
    if (frames[i].function == "main" && frames[i].language != "python") return i + 1;
  }
  return frames.size();
}

}  // namespace

std::string FrameLocation(const ReportFrame& frame) {
  if (frame.origin == ReportFrame::Origin::kNode) return "(backward)";
  if (frame.origin == ReportFrame::Origin::kCupti) return "(only CUPTI saw it)";
  if (frame.language == kAllocator) return Printable(BaseName(frame.module));
  if (frame.file.empty()) return ModuleAndOffset(frame);
  std::string file = Printable(frame.shown_file.empty() ? frame.file : frame.shown_file);
  return frame.line == 0 ? file : absl::StrCat(file, ":", frame.line);
}

std::string FrameFunction(const ReportFrame& frame) {
  const bool whole = frame.language == "python" || frame.language == kAllocator;
  std::string name = whole ? frame.function : ShortFunctionName(frame.function);
  name = Printable(name);
  return frame.file.empty() && name == ModuleAndOffset(frame) ? "" : name;
}

std::string FunctionBehindLocation(const ReportFrame& frame) {
  const std::string function = FrameFunction(frame);
  if (function.empty()) return "";
  return absl::StrCat(frame.language == "python" ? " in " : "  ", function);
}

std::vector<std::string> StackLines(const TextStyle& style, const std::vector<ReportFrame>& frames, size_t marked,
                                    size_t most) {
  const size_t all = WithoutStartUp(frames);
  size_t first = 0, end = all;
  if (all > most) {
    size_t callees = std::min(kCalleesShown, most / 2);
    if (marked < all) first = std::min(marked - std::min(marked, callees), all - most);
    end = first + most;
  }
  int functions = 0;
  for (size_t i = first; i < end; ++i) functions = std::max(functions, DisplayWidth(FrameFunction(frames[i])));
  functions = std::min(functions, std::max(style.columns - 2 - 2 - kNarrowestLocation, style.columns / 2));
  int locations = style.columns - functions - 4;

  std::vector<std::string> lines;
  if (first > 0) {
    lines.push_back(Painted(style, Paint::kDim, absl::StrCat("  (", first, " more, called from here)")));
  }
  for (size_t i = first; i < end; ++i) {
    std::string line = i == marked ? (style.unicode ? "→ " : "> ") : "  ";
    std::string function = FrameFunction(frames[i]);
    if (function.empty()) function = "(no symbol)";
    line += PadRight(CutEnd(function, functions), functions);
    line += "  ";
    line += CutBeginning(FrameLocation(frames[i]), locations);
    if (!frames[i].forward && i + 1 < frames.size() && frames[i + 1].forward) line += " of the call below";
    lines.push_back(Painted(style, i == marked ? Paint::kBold : Paint::kPlain, line));
  }
  if (end < all) {
    lines.push_back(
        Painted(style, Paint::kDim, absl::StrCat("  (", Plural(all - end, "more caller", "more callers"), ")")));
  }
  return lines;
}

}  // namespace vramtrack
