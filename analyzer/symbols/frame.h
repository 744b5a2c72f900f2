// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SYMBOLS_FRAME_H_
#define ANALYZER_SYMBOLS_FRAME_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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

// Where binaries may lie now.
struct ModuleSearch {
  // Folders. In each, a binary is looked for under its recorded path (a copied file tree), under its name, and in
  // ".build-id".
  std::vector<std::string> search_paths;
  // {from, to}: a recorded path in folder `from` is looked for in folder `to` as well.
  std::vector<std::pair<std::string, std::string>> path_replacements;
  // The system's own separate debug files.
  std::string debug_root = "/usr/lib/debug";
};

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_FRAME_H_
