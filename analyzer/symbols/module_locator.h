// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_MODULE_LOCATOR_H_
#define ANALYZER_SYMBOLS_MODULE_LOCATOR_H_

#include <memory>
#include <string>
#include <string_view>

#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/frame.h"

namespace vramtrack {

// The files that were found for one module.
struct LocatedModule {
  // The binary; null if there is none with the recorded build id.
  std::unique_ptr<ElfFile> binary;
  // A separate debug file of the same build; null if there is none.
  std::unique_ptr<ElfFile> debug;
  // The first ELF file that was refused because of a different build id; empty if there was none.
  std::string refused_path;
  // A file exists, but it is not (or no longer) an ELF file.
  bool unreadable = false;
};

// Returns a path from /proc/self/maps without " (deleted)".
std::string_view WithoutDeletedMark(std::string_view path);

// Returns whether `path` can name a file. Paths like "[vdso]", "/memfd:x" and "/SYSV00000000" cannot.
bool IsFilePath(std::string_view path);

// Looks for the binary and the debug file of `module`: first in the user's search paths and path replacements, then at
// the recorded path, then in the system's debug files.
LocatedModule LocateModule(const ModuleRef& module, const ModuleSearch& search);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_MODULE_LOCATOR_H_
