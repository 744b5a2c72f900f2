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
  // As in /proc/self/maps. It may end in " (deleted)", or not name a file ("[vdso]", "/memfd:x").
  std::string path;
  // Raw bytes or hex digits of either case; empty if unknown.
  std::string build_id;
  // Without a build id: the hash of proto/text_hash.h; size and time of modification (ns since 1970) of the file when
  // it was loaded; 0: unknown.
  uint64_t text_hash = 0, file_bytes = 0, modified_ns = 0;
};

// One function in a call stack.
struct Frame {
  // The demangled name, or "libfoo.so+0x12ab" if the name is unknown. Never empty.
  std::string function;
  // The source file; empty if unknown. Absolute, or relative to the workspace for programs built by Bazel.
  std::string file;
  // Counted from 1; 0 if unknown.
  uint32_t line = 0;
  // The recorded path of the module, without " (deleted)".
  std::string module;
  // The address that was looked up, relative to the module's load bias.
  uint64_t offset = 0;
  Language language = Language::kUnknown;
  // The compiler expanded this function into the next frame of the list.
  bool inlined = false;
};

inline bool operator==(const Frame& a, const Frame& b) {
  return a.function == b.function && a.file == b.file && a.line == b.line && a.module == b.module &&
         a.offset == b.offset && a.language == b.language && a.inlined == b.inlined;
}

// The places where binaries are searched for.
struct ModuleSearch {
  // Folders. In each, the search tries the binary's recorded path (for a copied file tree), its file name, and
  // ".build-id".
  std::vector<std::string> search_paths;
  // {from, to}: a binary whose recorded path is in folder `from` is also searched for in folder `to`.
  std::vector<std::pair<std::string, std::string>> path_replacements;
  // The folder of the system's separate debug files.
  std::string debug_root = "/usr/lib/debug";
};

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_FRAME_H_
