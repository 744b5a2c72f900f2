// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_SYMBOLIZER_H_
#define ANALYZER_SYMBOLS_SYMBOLIZER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/symbols/frame.h"

namespace vramtrack {

// Modules with what was read of their files, for several symbolizers that have the same options. Thread-safe.
class ModuleStore {
 public:
  ModuleStore();
  ~ModuleStore();
  ModuleStore(const ModuleStore&) = delete;
  ModuleStore& operator=(const ModuleStore&) = delete;

 private:
  friend class Symbolizer;
  class Module;
  using Key = std::pair<std::string, std::string>;  // recorded path, and build id as hex

  std::mutex mutex_;  // elfutils is not thread-safe
  std::map<Key, std::unique_ptr<Module>> modules_;
};

struct SymbolizerOptions {
  ModuleSearch search;
  // Without it: names of ELF symbols only, no lines and no inlined functions. Faster.
  bool use_debug_info = true;
  // What is read is kept there; null: by the symbolizer itself.
  std::shared_ptr<ModuleStore> modules;
};

// How well a module can be symbolized.
enum class ModuleState {
  kFound,            // functions and lines
  kNoDebugInfo,      // functions only
  kNoSymbols,        // the right file, but it names no function
  kBuildIdMismatch,  // only a file of another build is there: not used
  kMissing,          // no file
  kUnreadable,       // a file is there but it is no ELF file
  kNotAFile,         // "[vdso]", "/memfd:x"
};

// "found", "no_debug_info", "no_symbols", "build_id_mismatch", "missing", "unreadable", "not_a_file".
const char* ModuleStateName(ModuleState state);

struct ModuleStatus {
  std::string path;  // as recorded
  ModuleState state = ModuleState::kMissing;
  // The recorded build id, in hex, and whether the file that is used has it. False for a module without a recorded id.
  std::string build_id;
  bool build_id_verified = false;
  // Files in use; empty if there are none. A debug file may stand in for a missing binary.
  std::string binary_path;
  std::string debug_path;
  // The file that was not used, for kBuildIdMismatch.
  std::string refused_path;
};

// Turns addresses into functions and lines, offline. Reads a file when the first address in it is asked for, of its
// DWARF only the compilation units with such addresses, and remembers every answer.
//
// Answers depend on the files and the options only, not on the order of the questions. Never throws on bad files: what
// cannot be read gives module and offset. Thread-compatible: one thread at a time.
class Symbolizer {
 public:
  explicit Symbolizer(SymbolizerOptions options = {});
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // The functions at `address`, innermost first: those that the compiler inlined, then the one that has the code. At
  // least one. `address` is relative to the module's load bias: an address of the file's own program headers. For a
  // return address (all frames of a stack but the one that was interrupted) the line is that of the call.
  // The result lives as long as the symbolizer, or its store.
  const std::vector<Frame>& Symbolize(const ModuleRef& module, uint64_t address, bool is_return_address);

  // How `module` was found; looks for it if need be. Lives as long as the symbolizer.
  const ModuleStatus& Status(const ModuleRef& module);

  // The status of all modules seen so far, by path and build id.
  std::vector<ModuleStatus> Statuses() const;

 private:
  ModuleStore::Module& Find(const ModuleRef& ref);

  const SymbolizerOptions options_;
  const std::shared_ptr<ModuleStore> store_;
  std::map<ModuleStore::Key, ModuleStore::Module*> modules_;  // asked for here
};

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_SYMBOLIZER_H_
