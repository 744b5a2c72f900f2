// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_MODULE_LOCATOR_H_
#define ANALYZER_SYMBOLS_MODULE_LOCATOR_H_

#include <memory>
#include <string>
#include <string_view>

#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/frame.h"

namespace vramtrack {

// What was found of one module.
struct LocatedModule {
  // The binary; null if there is none, or none with the recorded build id.
  std::unique_ptr<ElfFile> binary;
  // A separate debug file of the same build; null if there is none.
  std::unique_ptr<ElfFile> debug;
  // The first ELF file that was looked at and refused, as its build id is another one; empty if none was.
  std::string refused_path;
  // A file was there but it is not (or no longer) an ELF file.
  bool unreadable = false;
};

// The path as /proc/self/maps has it, without " (deleted)".
std::string_view WithoutDeletedMark(std::string_view path);

// Whether `path` can name a file: "[vdso]", "/memfd:x", "/SYSV00000000" and such cannot.
bool IsFilePath(std::string_view path);

// Looks for the binary and the debug file of `module`. What the user named comes first: search paths and replacements,
// then the recorded path, then the system's debug files.
LocatedModule LocateModule(const ModuleRef& module, const ModuleSearch& search);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_MODULE_LOCATOR_H_
