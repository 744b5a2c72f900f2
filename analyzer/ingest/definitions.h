// SPDX-License-Identifier: Apache-2.0
//
// What the blocks of a trace define, from all of them together: a block's events may refer to what another one defines.
#ifndef ANALYZER_INGEST_DEFINITIONS_H_
#define ANALYZER_INGEST_DEFINITIONS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/loaded_modules.h"
#include "analyzer/ingest/traced_codes.h"
#include "analyzer/ingest/traced_stacks.h"

namespace vramtrack {

struct TracedProcess {
  uint32_t pid = 0, parent_pid = 0;
  std::vector<std::string> command;
  std::string executable, host, working_directory;
  std::vector<std::pair<std::string, std::string>> environment;
  std::optional<int> rank;
  std::string tracer_version, driver_version;
  std::string run_id;                        // of the run that it was a part of; empty: not known
  std::map<std::string, uint32_t> versions;  // "cudart", "driver"
  std::map<std::string, uint32_t> unseen;    // library or function to schema::UnseenReason
};

struct TracedThread {
  uint32_t tid = 0;
  std::string name;
};

struct TracedDevice {
  std::string name;
  uint64_t total_bytes = 0;  // 0: unknown
};

class Definitions {
 public:
  TracedProcess process;
  std::map<uint32_t, TracedThread> threads;
  std::map<uint32_t, TracedDevice> devices;
  LoadedModules modules;
  TracedCodes codes;
  TracedStacks stacks;
  // Of marks; whatever the program put there. From Freeze on, those in an NVTX domain are "domain:name".
  std::map<uint32_t, std::string> names;
  // Id of a name to that of its domain's own name, which is "domain:"; nothing for names in the default domain.
  std::map<uint32_t, uint32_t> domains;

  // Adds an encoded Definitions message. False where it makes no sense; what came before the damage is kept.
  bool Add(std::string_view encoded);
  // The distinct stack that stands for whoever makes PyTorch's pinned-memory pool grow; the empty one without PyTorch
  // for CUDA. From Freeze on, as the next.
  StackIndex torch_pinned_pool() const { return torch_pinned_pool_; }
  // Whether it is that pool which called CUDA: the innermost frame of the distinct stack is in PyTorch's CUDA library,
  // which allocates pinned memory for the pool only.
  bool IsTorchPinned(StackIndex index) const;

  // To be called once, after all definitions were added.
  void Freeze();

 private:
  void NameDomains();
  void FindTorch();

  StackIndex torch_pinned_pool_ = kEmptyStack;

  static constexpr size_t kMaxDomainBytes = 200;
  // A stack is written as the difference to the one before, so a small file could unfold into any number of frames. No
  // recorder comes near this.
  static constexpr uint64_t kMaxFramesPerByte = 128;
  uint64_t frames_left_ = 1u << 20;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_DEFINITIONS_H_
