// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_SYMBOLIZER_H_
#define ANALYZER_SYMBOLS_SYMBOLIZER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/symbols/frame.h"

namespace vramtrack {

// Modules and what was read from their files. Symbolizers with the same options can share a store. Thread-safe.
class ModuleStore {
 public:
  ModuleStore();
  ~ModuleStore();
  ModuleStore(const ModuleStore&) = delete;
  ModuleStore& operator=(const ModuleStore&) = delete;

 private:
  friend class Symbolizer;
  class Module;
  using Key = std::pair<std::string, std::string>;  // recorded path, and build id as hex or the hash of the code

  std::mutex mutex_;  // elfutils is not thread-safe
  std::map<Key, std::unique_ptr<Module>> modules_;
};

struct SymbolizerOptions {
  ModuleSearch search;
  // Where modules are kept; null: the symbolizer creates its own store.
  std::shared_ptr<ModuleStore> modules;
};

// The information that is available about a module.
enum class ModuleState {
  kFound,            // functions and lines
  kNoDebugInfo,      // functions only
  kNoSymbols,        // the right file, but it has no function names
  kBuildIdMismatch,  // only a file of another build exists; it is not used
  kMissing,          // no file was found
  kUnreadable,       // a file exists, but it is not an ELF file
  kNotAFile,         // "[vdso]", "/memfd:x"
};

// Returns "found", "no_debug_info", "no_symbols", "build_id_mismatch", "missing", "unreadable" or "not_a_file".
const char* ModuleStateName(ModuleState state);

// The state of a module and the files that are used for it.
struct ModuleStatus {
  std::string path;  // as recorded
  ModuleState state = ModuleState::kMissing;
  std::string build_id;  // the recorded one in hex
  // Of what was looked up: files that were not found, without which inlined functions are not known.
  std::set<std::string> missing_dwo_files;
  // The file has debug information that cannot be read, because of its compression or of damage.
  bool unreadable_debug_info = false;
  // For kBuildIdMismatch: the file that was not used.
  std::string refused_path;
};

// Converts addresses to functions and lines, offline. It reads a file when its first address is looked up, and from its
// DWARF only the compilation units with such addresses. It caches all results.
//
// Results depend only on the files and the options, not on the order of the calls. Damaged files never cause
// exceptions: a frame that cannot be read has only module and offset. Thread-compatible: one thread at a time.
class Symbolizer {
 public:
  explicit Symbolizer(SymbolizerOptions options = {});
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Returns the functions at `address`, innermost first: inlined functions, then the function that contains the code.
  // There is at least one. `address` is relative to the module's load bias, that is, an address of the file's own
  // program headers. For a return address (all frames of a stack except an interrupted one) the line is that of the
  // call. The result is valid as long as the symbolizer, or its store.
  const std::vector<Frame>& Symbolize(const ModuleRef& module, uint64_t address, bool is_return_address);

  // Returns how `module` was found, after looking for it if necessary. The result is valid as long as the symbolizer.
  const ModuleStatus& Status(const ModuleRef& module);

  // Returns the status of all modules seen so far, ordered by path and build id.
  std::vector<ModuleStatus> Statuses() const;

 private:
  ModuleStore::Module& Find(const ModuleRef& ref);

  const SymbolizerOptions options_;
  const std::shared_ptr<ModuleStore> store_;
  std::map<ModuleStore::Key, ModuleStore::Module*> modules_;  // modules that this symbolizer has looked up
};

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_SYMBOLIZER_H_
