// SPDX-License-Identifier: Apache-2.0
//
// The recording of this process: begins at its first CUDA call, ends when it ends. A forked child begins its own.
#ifndef INTERPOSE_SESSION_SESSION_H_
#define INTERPOSE_SESSION_SESSION_H_

#include <atomic>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/frameworks/torch/graph/graph_nodes.h"
#include "interpose/python/python_stacks.h"
#include "interpose/recorder/lane.h"
#include "interpose/recorder/trace_file.h"
#include "interpose/session/options.h"
#include "interpose/stacks/module_map.h"
#include "interpose/stacks/stack_capture.h"
#include "interpose/stacks/stack_table.h"

namespace vramtrack {

struct EarlyMarks;

// Lives in zeroed memory that is never freed: other threads may be in a hook when the process ends.
class Session {
 public:
  // The session, started by the first call. Null where recording is not possible; that was said once on stderr.
  static Session* Get() {
    Session* session = Running();
    return __builtin_expect(session != nullptr, 1) ? session : Start();
  }
  // The session if it has begun. A forked child finds none until it starts its own.
  static Session* Running() {
    return fork_page_ == nullptr ? nullptr : fork_page_->session.load(std::memory_order_acquire);
  }
  // Writes the end of the file; for the end of the process.
  static void FinishRunning();

  // The calling thread's lane, or null where there is no room for one: its events are counted as lost.
  Lane* AttachThread();
  void DetachThread(Lane* lane);

  const Options& options() const { return options_; }
  TraceFile& file() { return file_; }
  StackTable& stacks() { return stacks_; }
  StackCapture& captures() { return captures_; }
  PythonStacks& python() { return python_; }
  torch::GraphNodes& graph() { return graph_; }
  ModuleMap& modules() { return modules_; }
  // Address and space (see hooks/call.h) to identity of the live allocation there.
  ConcurrentTable& live() { return live_; }
  // Held while it is found out whether something is given out for the first time.
  SpinLock& retaining() { return retaining_; }

  // Of marks: by the hash of their text, and how many there are.
  struct Names {
    ConcurrentTable by_hash;
    std::atomic<uint32_t> count;
  };
  Names& names() { return names_; }

  // Whether a framework's allocator has told of its memory.
  bool has_framework() const { return has_framework_.load(std::memory_order_relaxed); }
  void NoteFramework() { has_framework_.store(true, std::memory_order_relaxed); }

  // Says once on stderr that recording has stopped, and why, if it has.
  void ReportIfStopped();

  // True once for each device, until its total is known.
  bool FirstReportOf(uint32_t device, bool with_total);

 private:
  // What a forked child must find empty. The kernel sees to that, so a child made in any way is covered.
  struct ForkPage {
    std::atomic<Session*> session;
    std::atomic<uint32_t> state;    // 0 nothing yet, 1 starting, 2 running, 3 not possible
    std::atomic<uint32_t> starter;  // the thread that starts it
  };

  static Session* Start();
  static bool MakeForkPage();
  bool Open();
  bool CreateFile();
  void SayTaken();

  static ForkPage* fork_page_;

  Options options_;
  TraceFile file_;
  StackTable stacks_;
  StackCapture captures_;
  PythonStacks python_;
  torch::GraphNodes graph_;
  ModuleMap modules_;
  ConcurrentTable live_;
  Names names_;
  SpinLock lanes_lock_, retaining_;
  Lane* free_lanes_;
  std::atomic<uint32_t> next_thread_, attached_threads_;
  std::atomic<uint64_t> devices_named_, devices_sized_;  // bit sets
  std::atomic<bool> said_stopped_, has_framework_;
};

// What a thread keeps. Plain data in static thread-local storage: hooks run while a thread's other thread-local objects
// are destroyed, and an access costs no call.
struct ThreadState {
  static constexpr uint8_t kMaxPushedDevices = 7;

  Session* session;  // that `lane` belongs to: a forked child inherits its parent's
  Lane* lane;
  CaptureThread* capture;   // of the same session; null where no stacks are taken
  EarlyMarks* early;        // marks from before the session, null where the thread has set none
  const void* innermost;    // hooked call that the thread is in
  uint32_t covered;         // families of calls (hooks/family.h) whose real functions the thread is in
  uint32_t release_stack;   // of the thread's last MARK_RELEASE
  uint64_t capture_number;  // see hooks/captures.h
  uint32_t device;          // current device, as far as the thread's own calls tell
  bool busy;                // in this library's own code
  uint8_t pushed_devices;
  uint8_t pushed[kMaxPushedDevices];  // under the current device, see hooks/current_device.h
};
extern __thread ThreadState thread_state __attribute__((tls_model("initial-exec")));

// Defines the process in `lane`: what it is, and the part of its environment that explains its memory. Uses `buffer`.
void DefineProcess(Lane* lane, uint8_t* buffer, size_t capacity);

// Defines the calling thread.
void DefineThread(Lane* lane);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_SESSION_H_
