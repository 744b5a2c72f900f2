// SPDX-License-Identifier: Apache-2.0
//
// Collects the definitions of all blocks of a trace. The events of a block may refer to definitions of another block.
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
  std::string run_id;         // the run that the process was part of; empty if unknown
  double joined_after_s = 0;  // its age when it was joined; 0 if it was recorded from its first CUDA call
  std::map<std::string, uint32_t> versions;  // "cudart", "driver"
  std::map<std::string, uint32_t> unseen;    // maps a library or function to schema::UnseenReason
};

// Reads a Process message. Throws protozero::exception at damage; the fields before it are read then.
void ReadProcess(std::string_view encoded, TracedProcess* process);

struct TracedThread {
  uint32_t tid = 0;
  std::string name;
};

// A framework's own allocator, other than PyTorch's.
struct TracedAllocator {
  std::string framework, name;
  uint32_t device = 0;
  bool by_handle =
      false;  // where its blocks lie is not known; `name` is the library that allocates the memory for them
};

// How much memory of the host the process had.
struct HostReading {
  uint64_t time = 0;      // ticks
  uint64_t resident = 0;  // bytes
  uint64_t shared = 0;    // of these, bytes of files and of memory shared with other processes
};

struct TracedDevice {
  std::string name;
  std::string uuid;          // as nvidia-smi prints it; empty: unknown
  uint64_t total_bytes = 0;  // 0: unknown
  bool integrated = false;   // its memory is the host's
};

class Definitions {
 public:
  TracedProcess process;
  std::map<uint32_t, TracedThread> threads;
  std::map<uint32_t, TracedDevice> devices;
  std::vector<TracedAllocator> allocators;  // each once
  std::vector<HostReading> host_readings;   // after Freeze, by time
  LoadedModules modules;
  TracedCodes codes;
  TracedStacks stacks;
  // The names of marks by id; the program may have put any bytes there. After Freeze, names in an NVTX domain read
  // "domain:name".
  std::map<uint32_t, std::string> names;
  // Maps the id of a name to the id of its domain's name, which is "domain:". Names in the default domain are absent.
  std::map<uint32_t, uint32_t> domains;

  // Returns the first allocator of a framework other than PyTorch on the device, or null. Blocks there may be of both.
  const TracedAllocator* AllocatorOn(uint32_t device) const;
  // Returns whether the device stands for the memory of the host: interpose/frameworks/allocator.h.
  bool IsHostAsDevice(uint32_t device) const { return device == kHostAsDevice && AllocatorOn(device) != nullptr; }

  // Adds an encoded Definitions message. Returns false if it is damaged; what precedes the damage is kept.
  bool Add(std::string_view encoded);
  // Returns the distinct stack that represents PyTorch's pinned-memory pool, whichever caller makes the pool grow. The
  // empty stack if the process has no PyTorch for CUDA. Valid after Freeze.
  StackIndex torch_pinned_pool() const { return torch_pinned_pool_; }
  // Returns whether the pool called CUDA: the innermost frame of the distinct stack is in PyTorch's CUDA library, which
  // allocates pinned memory for the pool only. Valid after Freeze.
  bool IsTorchPinned(StackIndex index) const;

  // Must be called once, after all definitions were added.
  void Freeze();

 private:
  void NameDomains();
  void FindTorch();

  StackIndex torch_pinned_pool_ = kEmptyStack;

  static constexpr uint32_t kHostAsDevice = 63;
  static constexpr size_t kMaxDomainBytes = 200;
  // Stacks are stored as differences to the previous stack, so a small damaged file could expand to any number of
  // frames. No recorder comes near this limit.
  static constexpr uint64_t kMaxFramesPerByte = 128;
  uint64_t frames_left_ = 1u << 20;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_DEFINITIONS_H_
