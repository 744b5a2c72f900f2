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
  uint32_t gone_epoch = UINT32_MAX;  // not there from this epoch on
  std::string path;
  std::string build_id;  // raw bytes; empty: unknown
  uint64_t load_bias = 0;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;  // [start, end) of executable segments, run-time addresses
};

// Which module an address belonged to, in each epoch of the traced process's module map. Build it, Freeze it, then ask:
// thread-safe from then on.
class LoadedModules {
 public:
  void Add(TracedModule module) { modules_.push_back(std::move(module)); }
  void SetGone(uint32_t id, uint32_t epoch);
  void Freeze();

  const std::vector<TracedModule>& modules() const { return modules_; }

  // Index into modules(), -1 for none. A module that was loaded while the epoch's stacks were captured may carry a
  // later epoch than they do: it counts where no other module fits.
  int Find(uint64_t address, uint32_t epoch) const;

 private:
  struct Range {
    uint64_t start, end;
    int module;
    uint64_t max_end;  // of this range and all before it
  };

  std::vector<TracedModule> modules_;
  std::vector<std::pair<uint32_t, uint32_t>> gone_;
  std::vector<Range> ranges_;  // by start
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_LOADED_MODULES_H_
