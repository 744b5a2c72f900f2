// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_LOADED_MODULES_H_
#define ANALYZER_INGEST_LOADED_MODULES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace vramtrack {

struct TracedModule {
  uint32_t id = 0;
  uint32_t first_epoch = 0;
  uint32_t gone_epoch = UINT32_MAX;  // the first epoch in which it is no longer loaded
  std::string path;
  std::string build_id;  // raw bytes; empty: unknown
  // Without a build id: see text_hash.h, and the file when it was loaded; 0: unknown.
  uint64_t text_hash = 0, file_bytes = 0, modified_ns = 0;
  uint64_t load_bias = 0;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // [start, end) of executable segments, run-time addresses
};

// Finds the module of an address, in each epoch of the traced process's module map. Add all modules, then call Freeze,
// then Find. Thread-safe after Freeze.
class LoadedModules {
 public:
  void Add(TracedModule module) { modules_.push_back(std::move(module)); }
  void SetGone(uint32_t id, uint32_t epoch);
  void Freeze();

  const std::vector<TracedModule>& modules() const { return modules_; }

  // Returns an index into modules(), or -1 if no module fits. A module that was loaded while stacks were captured may
  // have a later epoch than these stacks. It is therefore returned if no module of the right epoch fits.
  int Find(uint64_t address, uint32_t epoch) const;

 private:
  struct Range {
    uint64_t start, end;
    int module;
    uint64_t max_end;  // the highest end of this range and all before it
  };

  std::vector<TracedModule> modules_;
  std::vector<std::pair<uint32_t, uint32_t>> gone_;
  std::vector<Range> ranges_;  // by start
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_LOADED_MODULES_H_
