// SPDX-License-Identifier: Apache-2.0
//
// Who holds each live block, by name: walks through the Python objects of this process at the moments that
// VRAMTRACK_HOLDERS asks for. A hook only asks the interpreter for a call (Py_AddPendingCall, which needs no lock of
// the interpreter); the walk itself runs in the main thread between two bytecodes. See docs/holders.md.
#ifndef INTERPOSE_HOLDERS_HOLDERS_H_
#define INTERPOSE_HOLDERS_HOLDERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/spin_lock.h"
#include "interpose/holders/python_objects.h"
#include "interpose/python/python_stacks.h"
#include "interpose/recorder/trace_file.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// The moments at which walks are made.
struct HolderMoments {
  bool growth, out_of_memory, exit, request;
  uint64_t interval_ns;  // 0: none
  bool any() const { return growth || out_of_memory || exit || request || interval_ns != 0; }
};

// Returns false for an invalid text. `text` is a list such as "growth,oom,exit,request", a duration such as "30s", or
// "all", "1", "0" or empty.
bool ParseHolderMoments(const char* text, HolderMoments* moments);

// Must be placed in zeroed memory. Thread-safe. A forked child makes its own.
class Holders {
 public:
  // Call it before any other function. `python` and `file` are not owned and must outlive this object.
  void Prepare(const HolderMoments& moments, PythonStacks* python, TraceFile* file);

  bool on() const { return on_; }
  // Notes that a device's caching allocator has given out `bytes` now. Called in a hook, with the allocator's lock
  // held.
  void NoteMemory(uint32_t device, uint64_t bytes);
  // Notes that an allocation has failed. Likewise.
  void NoteOutOfMemory();
  // Asks for a walk. Returns false if walks were not asked for, or if there is no interpreter that can be walked.
  bool Request();

 private:
  static constexpr size_t kMaxDevices = 16;
  // Finds growth that lasts: the least that was given out in each of several successive windows of events.
  struct Growth {
    uint64_t low, last_low, reference, events, next_walk;
    uint32_t in_window, rising;
  };

  bool Schedule(schema::HolderMoment moment);
  bool HasPython();
  void Refuse(const char* python);
  static int OnPending(void* self);
  static uint64_t OnExit(uint64_t self, uint64_t none);
  void WatchExit();
  void Walk(schema::HolderMoment moment);

  bool on_;
  HolderMoments moments_;
  int process_;
  PythonStacks* python_;
  TraceFile* file_;
  std::atomic<uint32_t> scheduled_;   // 0: nothing, otherwise 1 + HolderMoment
  std::atomic<uint32_t> has_python_;  // 0: not known, 1: yes, 2: no
  std::atomic<uint64_t> next_interval_ns_, requests_;
  std::atomic<bool> watches_exit_, asked_to_watch_;
  uint32_t walks_;
  size_t reached_last_;  // objects, by the walk before
  SpinLock lock_;
  holders::PythonApi api_;
  Growth growth_[kMaxDevices];
};

}  // namespace vramtrack

#endif  // INTERPOSE_HOLDERS_HOLDERS_H_
