// SPDX-License-Identifier: Apache-2.0
//
// The walks of a trace: at a few moments of the run, the path of Python names by which each live block is held.
#ifndef ANALYZER_INGEST_HOLDER_WALKS_H_
#define ANALYZER_INGEST_HOLDER_WALKS_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// The paths of all walks of a trace, as one tree: the same names in the same order are the same path in every walk.
// Thread-compatible.
class HolderPaths {
 public:
  // A path that would be longer ends here.
  static constexpr uint32_t kMaxSteps = 128;

  struct Step {
    HolderPathIndex parent;  // none: the path begins here
    uint32_t step = 0;       // schema::HolderStep
    std::string name, file;  // may be empty
    uint32_t length = 1;     // of the path
  };

  // Returns the path `parent` with one more step, or `parent` if it has kMaxSteps. The path is added if it is new. A
  // module without a file is the one with the same name that has one: at the end, CPython deletes __main__.__file__.
  HolderPathIndex Find(HolderPathIndex parent, uint32_t step, const std::string& name, const std::string& file);

  const Step& operator[](HolderPathIndex path) const { return steps_[path]; }
  size_t size() const { return steps_.size(); }
  // Returns all steps of a path, from its beginning on.
  std::vector<HolderPathIndex> StepsOf(HolderPathIndex path) const;

 private:
  IndexedVector<HolderPathIndex, Step> steps_;
  absl::flat_hash_map<std::tuple<HolderPathIndex, uint32_t, std::string, std::string>, HolderPathIndex> by_step_;
};

// The objects at the end of a path, as one walk found them.
struct WalkedPath {
  std::string type;      // of the object; empty if unknown
  uint64_t entries = 0;  // of a container, the most if there are several
  uint64_t objects = 0;  // number of objects with this path
  uint64_t limit = 0;    // of the entries, as the container or its owner says; 0: nobody does
};

struct WalkedBlock {
  uint64_t address = 0;
  DeviceIndex device;
  HolderPathIndex path;  // none: the walk did not find what holds it
  uint32_t flags = 0;    // schema::HolderFlags
  uint32_t shape = 0;    // 1 + index in HolderWalk::shapes, 0: unknown
};

struct HolderWalk {
  uint32_t number = 0;  // counted from 1
  uint32_t moment = schema::HOLDERS_NEVER;
  uint32_t stopped = schema::HOLDERS_COMPLETE;
  bool whole = false;  // all of its parts are in the trace
  uint64_t begin_ticks = 0, end_ticks = 0;
  uint64_t objects = 0, tensors = 0;
  absl::flat_hash_map<HolderPathIndex, WalkedPath> paths;
  std::vector<WalkedBlock> blocks;  // by address, each address once
  std::vector<std::string> shapes;  // data types and sizes, such as "float32 [64, 256]", each once

  // Returns whether it visited everything and nothing of it is lost.
  bool complete() const { return stopped == schema::HOLDERS_COMPLETE && whole; }
  // Returns what it found at the end of a path; nothing if it did not get there.
  const WalkedPath& At(HolderPathIndex path) const;
};

// Thread-compatible.
class HolderWalks {
 public:
  explicit HolderWalks(const Trace& trace);

  const HolderPaths& paths() const { return paths_; }
  const std::vector<HolderWalk>& all() const { return walks_; }  // by the time when they ended
  uint64_t malformed_frames() const { return malformed_frames_; }

 private:
  HolderPaths paths_;
  std::vector<HolderWalk> walks_;
  uint64_t malformed_frames_ = 0;
};

// Returns when a walk was made, as in "at the first sign of growth"; "for an unknown reason" for a moment that this
// version does not know.
const char* HolderMomentText(uint32_t moment);
// Returns why a walk did not visit everything, as in "its time was up"; empty if it did.
const char* HolderStopText(uint32_t stopped);

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_HOLDER_WALKS_H_
