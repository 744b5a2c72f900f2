// SPDX-License-Identifier: Apache-2.0
//
// The event stream of an emulated job: what the recorder would have written of it, and beside that what each of its
// sites held at the end of each step, which is what rules that look at live bytes go by.
#ifndef TESTS_CORPUS_JOB_STREAM_H_
#define TESTS_CORPUS_JOB_STREAM_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "proto/testing/trace_builder.h"
#include "tests/corpus/block_allocator.h"

namespace vramtrack::corpus {

// How a stack looks: where Python and the autograd engine have a part in it, or all native.
enum class Look { kForward, kBackward, kAccumulate, kOptimizer, kNative };

// How the job tells its steps.
enum class Marking {
  kMarks,    // vramtrack_step
  kImplied,  // an optimizer's record_function, or NVTX ranges in a job without Python
  kNone,
};

// What a job's code is called. Names are numbers drawn at random; edits are what a new version of the code would
// change.
struct Naming {
  uint64_t scramble = 0;    // another number gives other names
  uint32_t line_shift = 0;  // all lines are so much further down
  int rename_every = 0, move_every = 0,
      wrap_every = 0;  // each so many-th function: another name, file, or a call within

  static bool Hits(int every, size_t site) {
    return every > 0 && site % static_cast<size_t>(every) == static_cast<size_t>(every) - 1;
  }
  // Whether the function of the site of this number is edited but for its line.
  bool Edits(size_t site) const { return Hits(rename_every, site) || Hits(move_every, site) || Hits(wrap_every, site); }
};

// A site as the analyzer numbers them: one stack, one kind.
struct SiteRecord {
  schema::Kind kind = schema::FRAMEWORK_BLOCK;
  // What is unique in its stack: the name of its innermost function, or the offset of its innermost frame in hex.
  std::string token;
  uint64_t allocations = 0, frees = 0;
  double live_bytes = 0, live_objects = 0;
  std::vector<double> live_by_step;  // bytes; of handles, objects
};

struct Object {
  uint32_t site = 0;
  uint64_t address = 0, bytes = 0;
  AllocationId id = {};
};

// Thread-compatible.
class JobStream {
 public:
  JobStream(bool python, Marking marking, uint64_t device_bytes, const Naming& naming);

  // A new site. Memory is allocated by `thread`. Sites of one `scope` share the outer frames of their stacks.
  uint32_t AddSite(schema::Kind kind, Look look, uint32_t thread = 0, uint32_t scope = 0);

  // `pool`: of the framework's allocator, for its blocks only.
  Object Allocate(uint32_t site, uint64_t bytes, uint32_t pool = 0);
  void Free(const Object& object, uint32_t thread = 0);
  // The free is asked for, and recorded, but the allocator cannot use the block before Recycle().
  void FreeDeferred(const Object& object, uint32_t thread = 0);
  void Recycle(const Object& object) { allocator_.Free(object.address); }

  void BeginStep();
  // Where an optimizer tells of itself.
  void MarkOptimizer();
  void EndStep();
  void Pass(uint64_t ns) { now_ += ns; }

  const std::vector<SiteRecord>& sites() const { return sites_; }
  const std::vector<uint64_t>& step_ends() const { return step_ends_; }  // times
  uint64_t events() const { return events_; }
  // Of device memory, taken from the driver: the most in each step.
  const std::vector<uint64_t>& reserved_by_step() const { return reserved_by_step_; }
  std::string Finish() { return trace_.Finish(); }

 private:
  uint32_t DefineStack(Look look, uint32_t scope, std::string* token);
  uint32_t Code(const std::string& name, const std::string& file, uint32_t line);
  uint64_t Draw();
  std::string Name(const char* prefix);
  uint64_t Tick() { return now_ += 700; }
  uint32_t SegmentSite(uint32_t site);
  void Count(uint32_t site, const Object& object, bool born);
  void Reserve(uint64_t bytes);
  uint64_t DriverAddress(uint64_t bytes, bool on_device);

  TraceBuilder trace_;
  BlockAllocator allocator_;
  // The driver's pages: small allocations share them, larger ones have their own.
  BlockAllocator pages_{0x7e0000000000};
  const bool python_;
  const Marking marking_;
  const Naming naming_;
  uint64_t random_;
  uint64_t now_ = 1000000, next_address_ = 0x600000000000, next_return_ = 0x401005, reserved_ = 0, most_reserved_ = 0,
           events_ = 0;
  uint32_t stacks_ = 0, codes_ = 0, main_code_ = 0, train_code_ = 0, optimizer_code_ = 0, optimizer_mark_ = 0;
  std::map<uint32_t, uint32_t> scope_codes_;
  std::vector<SiteRecord> sites_;
  std::vector<uint32_t> stack_of_site_, thread_of_site_;
  std::map<uint32_t, uint32_t> segment_site_;  // of the site whose blocks began the segments
  std::vector<uint64_t> step_ends_, reserved_by_step_;
};

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_JOB_STREAM_H_
