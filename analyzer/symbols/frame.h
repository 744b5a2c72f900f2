// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_FRAME_H_
#define ANALYZER_SYMBOLS_FRAME_H_

#include <cstdint>
#include <string>

#include "analyzer/model/enums.h"

namespace vramtrack {

// A binary as the traced process saw it.
struct ModuleRef {
  // As in /proc/self/maps; may end in " (deleted)", or be no file at all ("[vdso]", "/memfd:x").
  std::string path;
  // Raw bytes or hex digits of either case; empty if unknown.
  std::string build_id;
};

// One function on a stack.
struct Frame {
  // Demangled. "libfoo.so+0x12ab" where no name is known; never empty.
  std::string function;
  // Empty if unknown. Absolute, or relative to the workspace for programs built by Bazel.
  std::string file;
  // Counted from 1; 0 if unknown.
  uint32_t line = 0;
  // The recorded path, without " (deleted)".
  std::string module;
  // The address that was asked for, relative to the module's load bias.
  uint64_t offset = 0;
  Language language = Language::kUnknown;
  // The compiler expanded this function into the next frame of the list.
  bool inlined = false;
};

inline bool operator==(const Frame& a, const Frame& b) {
  return a.function == b.function && a.file == b.file && a.line == b.line && a.module == b.module &&
         a.offset == b.offset && a.language == b.language && a.inlined == b.inlined;
}

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_FRAME_H_
