// SPDX-License-Identifier: Apache-2.0
//
// A frame of a call stack, and who owns its code.
#ifndef ANALYZER_MODEL_FRAME_H_
#define ANALYZER_MODEL_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"

namespace vramtrack {

struct ReportFrame {
  std::string function, file, module;
  Language language = Language::kUnknown;
  uint32_t line = 0;
  uint64_t offset = 0;
  // The owner of the code. A site is named by the job's own frames if it has any. The last two mark
  // unknown frames. kCupti: no hook saw the call, and only its library is known, from CUPTI. kTruncated: the callers
  // were not recorded.
  enum class Origin { kJob, kLibrary, kNode, kCupti, kTruncated } origin = Origin::kJob;
  // True for an installed Python package or native library, and for a script that only starts one: code outside of the
  // job's own folder.
  bool installed = false;
  bool inlined = false;  // into the next frame's function
  bool forward = false;
  // `file` as text shows it; empty unless that is shorter.
  std::string shown_file;
};

// Returns the function's name as text shows it; empty if that is `function` or nothing. In frame_text.cc.
std::string ShortName(const ReportFrame& frame);

template <>
inline constexpr const char* kAbout<ReportFrame> = "A call of a stack";
template <class Visitor>
void Fields(Visitor& visit, ReportFrame& frame) {
  visit(1, "function", frame.function, "where it is unknown, what is known of it: its module and offset");
  visit(2, "file", frame.file, "empty where it is unknown");
  visit(3, "line", frame.line, "0 where it is unknown");
  visit(4, "module", frame.module, "the program or library that it is in");
  visit(5, "offset", frame.offset, "in the module, where there is no line");
  visit(
      6, "language", frame.language,
      "`cupti`: the library that took memory which only [CUPTI](cupti.md) saw, so that there is no stack; `autograd`: "
      "the node of PyTorch's graph that was run backward; `allocator`: a pool of PyTorch's allocator as a whole");
  visit(7, "origin", field::Internal{frame.origin}, "whose code it is");
  visit(8, "installed", field::Internal{frame.installed});
  visit(9, "inlined", field::Internal{frame.inlined});
  std::string short_name = ShortName(frame);
  visit(0, "short_name", field::IfSet{short_name}, "`function` in short, as text shows it; absent if that is the same");
  visit(10, "forward", field::IfSet{frame.forward},
        "of the forward call that made the graph node which is run backward; absent otherwise");
  visit(11, "shown_file", frame.shown_file,
        "`file` as text shows it: from the job's folder or the package on; empty where that is the whole of it");
}

inline bool IsPython(const ReportFrame& frame) { return frame.language == Language::kPython; }

// Returns whether a frame is the user's own code: not PyTorch, the standard library or anything else that is installed.
inline bool IsOwn(const ReportFrame& frame) {
  return frame.origin == ReportFrame::Origin::kJob && !frame.installed && (IsPython(frame) || !frame.module.empty());
}

// Returns the index of the innermost frame of the user's own code, from `from` outwards. In a stack with Python frames
// only those count. Returns nullopt without one.
inline std::optional<size_t> OwnFrame(const std::vector<ReportFrame>& frames, size_t from = 0) {
  bool python = false;
  for (const ReportFrame& frame : frames) python |= IsPython(frame);
  for (size_t i = from; i < frames.size(); ++i) {
    if (IsOwn(frames[i]) && IsPython(frames[i]) == python) return i;
  }
  return std::nullopt;
}

// Returns the index of the frame that names a stack: without Python frames, `from`; otherwise the first of the job's
// own Python frames from `from` outwards, or else the innermost of the job's own, or else the same among all Python
// frames.
inline size_t NamingFrame(const std::vector<ReportFrame>& frames, size_t from) {
  const auto first = [&frames](size_t begin, bool own) {
    while (begin < frames.size() && (frames[begin].language != Language::kPython ||
                                     (own && frames[begin].origin != ReportFrame::Origin::kJob))) {
      ++begin;
    }
    return begin;
  };
  for (const bool own : {true, false}) {
    for (const size_t begin : {from, size_t{0}}) {
      if (const size_t found = first(begin, own); found < frames.size()) return found;
    }
  }
  return from;
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_FRAME_H_
