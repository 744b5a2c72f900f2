// SPDX-License-Identifier: Apache-2.0
//
// The recording of this process: it begins at the first CUDA call and ends with the process. A forked child begins its
// own recording.
#ifndef INTERPOSE_SESSION_SESSION_H_
#define INTERPOSE_SESSION_SESSION_H_

#include <atomic>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/frameworks/torch/graph/graph_nodes.h"
#include "interpose/holders/holders.h"
#include "interpose/python/python_stacks.h"
#include "interpose/recorder/event_writer.h"
#include "interpose/recorder/trace_file.h"
#include "interpose/session/options.h"
#include "interpose/stacks/module_map.h"
#include "interpose/stacks/stack_capture.h"
#include "interpose/stacks/stack_table.h"
#include "proto/control_word.h"

namespace vramtrack {

struct EarlyMarks;

// What a program may learn of a device, and the trace with it.
enum class DeviceFact : uint8_t { kName, kSize, kUuid, kIntegrated };

// Uses zeroed memory that is never freed, because other threads may be in a hook when the process ends.
class Session {
 public:
  // Returns the session; the first call starts it. Returns null if recording is not possible; the reason was reported
  // once on stderr, except in a privileged (setuid) program.
  static Session* Get() {
    Session* session = Running();
    return __builtin_expect(session != nullptr, 1) ? session : Start();
  }
  // Returns the session if it has begun, else null. In a forked child it is null until the child starts its own.
  static Session* Running() {
    return fork_page_ == nullptr ? nullptr : fork_page_->session.load(std::memory_order_acquire);
  }
  // Returns the session if it records, else null. Has no effect.
  static Session* Now() {
    Session* const session = Running();
    // Acquires what Begin has prepared, if the session began after the caller had its address.
    const bool records = session != nullptr && (session->control_->load(std::memory_order_acquire) & kControlMask) == 0;
    return __builtin_expect(records, 1) ? session : nullptr;
  }
  // Returns the session if it records. If it was stopped (CONTROL_STOP), counts the call and returns null; if it was
  // started again since, returns the session that goes on, which may be a new one with a file of its own.
  static Session* Recording(Session* session) {
    const uint64_t control = session->control_->load(std::memory_order_acquire);
    return __builtin_expect((control & kControlMask) == 0, 1) ? session : Controlled(session, control);
  }
  // The rest of Recording, where `control`, as it was read, does not say that the session records.
  static Session* Controlled(Session* session, uint64_t control);

  // Returns whether the calling hook can pass its call on at once, because recording is off. Counts the call then.
  static bool PassesOn() {
    const ForkPage* const page = fork_page_;
    const std::atomic<uint64_t>* const control =
        page == nullptr ? nullptr : page->control.load(std::memory_order_relaxed);
    if (__builtin_expect(control == nullptr, 0)) return false;
    constexpr uint64_t kOff = schema::CONTROL_STOP | schema::CONTROL_IDLE;
    if (__builtin_expect((control->load(std::memory_order_relaxed) & kControlMask) != kOff, 1)) return false;
    CountIdle();
    return true;
  }

  // Joins a process that has made calls already: the trace says so. Begins to record, or goes on after StopRecording.
  // Returns the session, or null if recording is not possible.
  static Session* Join();
  // Stops recording until Join. The trace is completed. Returns false if nothing was recorded.
  static bool StopRecording();
  // Called, if it is not null, when recording has stopped or goes on, in a hooked call, StopRecording or Join.
  static std::atomic<void (*)()> on_switched;
  // Returns whether recording has stopped, so that no call need come to this library any more, and notes that in the
  // trace: only Join goes on then.
  static bool HasLeft();

  // Makes forked children begin without a session where the kernel does not (ForkPage). Call it once, before the first
  // fork.
  static void InstallForkHandler();

  // Finishes the trace file. For the end of the process.
  static void FinishRunning();

  // Gives the calling thread a writer and returns it. Returns null if there is no room; the events of the thread are
  // then counted as lost.
  EventWriter* AttachThread();
  void DetachThread(EventWriter* writer);

  TraceFile& file() { return file_; }
  StackTable& stacks() { return stacks_; }
  StackCapture& captures() { return captures_; }
  PythonStacks& python() { return python_; }
  Holders& holders() { return holders_; }
  torch::GraphNodes& graph() { return graph_; }
  ModuleMap& modules() { return modules_; }
  // Maps the address and the kind of address space of each live allocation to its identity.
  ConcurrentTable& live() { return live_; }
  // Held while a hook determines whether CUDA returns an object for the first time.
  SpinLock& retaining() { return retaining_; }

  // The names of marks, by the hash of their text, and their count.
  struct Names {
    ConcurrentTable by_hash;
    std::atomic<uint32_t> count;
  };
  Names& names() { return names_; }

  // Returns whether a framework's allocator has reported its memory.
  bool has_framework() const { return has_framework_.load(std::memory_order_relaxed); }
  void NoteFramework() { has_framework_.store(true, std::memory_order_relaxed); }

  // Returns whether anything of a call stack is captured: native frames, Python's or the graph's.
  bool wants_stacks() const { return wants_stacks_; }
  bool joined() const { return joined_; }
  // Returns whether calls are recorded now.
  bool records() const { return (control_->load(std::memory_order_acquire) & kControlMask) == 0; }

  // Notes what a framework's allocator has reserved on a device, in bytes. Returns whether that is new to the trace. An
  // allocator reports under its lock; a second copy of a framework only makes the trace hear of it more often.
  bool NoteReserved(uint8_t device, uint64_t bytes) {
    std::atomic<uint64_t>& reported = framework_reserved_[device % kMaxDevices];
    if (__builtin_expect(reported.load(std::memory_order_relaxed) == bytes, 1)) return false;
    reported.store(bytes, std::memory_order_relaxed);
    return true;
  }

  // If recording has stopped, reports this and the reason on stderr, once.
  void ReportIfStopped();

  // Returns true once for each of the first 64 devices and each fact.
  bool FirstReportOf(uint32_t device, DeviceFact fact);

 private:
  // State that is empty in a forked child. The kernel zeroes it, so it does not matter how the child was made. Linux
  // before 4.14 cannot, and emulators (qemu 7) say that they do and do not: there a pthread_atfork handler does.
  struct ForkPage {
    std::atomic<Session*> session;
    std::atomic<std::atomic<uint64_t>*> control;  // of the session
    std::atomic<uint32_t> state;                  // 0 not started, 1 starting, 2 running, 3 not possible
    std::atomic<uint32_t> starter;                // the thread that starts it
  };

  static Session* Start(bool joined = false);
  static Session* New(bool joined);
  static Session* Restart(Session* old);
  static void CountIdle();
  static void Publish(Session* session);
  static bool WaitForStarter();
  static bool MakeForkPage();
  bool Open(bool joined);
  bool Begin(bool joined);
  void End();
  bool CreateFile();
  void SayTaken();

  static ForkPage* fork_page_;

  // What every call reads stands together: a call comes seldom, and finds none of it in the nearest cache.
  alignas(64) std::atomic<uint64_t>* control_;  // COUNTER_CONTROL of the file
  bool wants_stacks_;
  ConcurrentTable live_;
  ModuleMap modules_;
  PythonStacks python_;
  StackCapture captures_;
  StackTable stacks_;
  torch::GraphNodes graph_;
  Holders holders_;
  Options options_;
  TraceFile file_;
  Names names_;
  SpinLock writers_lock_, retaining_;
  EventWriter* free_writers_;
  std::atomic<uint32_t> next_thread_, attached_threads_;
  std::atomic<uint64_t> devices_known_[3];  // bit sets, by DeviceFact
  std::atomic<bool> said_stopped_, has_framework_;
  bool begun_;   // something was recorded
  bool joined_;  // it was recorded from a moment at which calls had been made
  static constexpr size_t kMaxDevices = 64;
  std::atomic<uint64_t> framework_reserved_[kMaxDevices];
};

// The devices below a thread's current one, as the driver's stack of contexts has them. Keeps the first few and counts
// the others. Plain data; zero-initialised memory is an empty stack.
struct PushedDevices {
  static constexpr uint32_t kKept = 7;

  uint32_t count;
  uint8_t kept[kKept];

  void Push(uint32_t device) {
    if (count < kKept) kept[count] = static_cast<uint8_t>(device);
    ++count;
  }
  // Removes the top. Returns true and sets `device` if it was kept.
  bool Pop(uint32_t* device) {
    if (count == 0 || --count >= kKept) return false;
    *device = kept[count];
    return true;
  }
};

// The state of a thread. Plain data in static thread-local storage: hooks also run while the thread's other
// thread-local objects are destroyed, and an access needs no function call.
struct alignas(64) ThreadState {
  // In one cache line, what every call uses.
  Session* session;  // the session of `writer`: a forked child inherits its parent's
  EventWriter* writer;
  CaptureThread* capture;  // of the same session; null if no stacks are captured
  const void* innermost;   // the innermost hooked call of the thread
  int* error;              // errno; null before the first call: asking for it takes a call
  uint32_t covered;        // families of calls (hooks/table/call.h) whose real functions the thread is in
  uint32_t device;         // the current device, as far as hooked calls of the thread show
  bool busy;               // the thread runs code of this library
  uint32_t idle_calls;     // calls that were not recorded and are not in COUNTER_CONTROL yet
  // Rarer.
  EarlyMarks* early;        // marks from before the session; null if the thread has set none
  uint64_t capture_number;  // see hooks/table/captures.h
  uint32_t release_stack;   // of the thread's last MARK_RELEASE
  PushedDevices pushed;     // see hooks/table/current_device.h
};
extern __thread ThreadState thread_state __attribute__((tls_model("initial-exec")));

inline void Session::CountIdle() {
  constexpr uint32_t kBatch = 256;
  if (__builtin_expect(++thread_state.idle_calls % kBatch != 0, 1)) return;
  fork_page_->control.load(std::memory_order_relaxed)
      ->fetch_add(uint64_t{kBatch} << kControlCountShift, std::memory_order_relaxed);
}

// Records in `writer` the definition of the process: its identity and the environment variables that affect its memory.
// `joined`: it was joined now, so what it did before is unknown. `buffer` is scratch space of `capacity` bytes.
void DefineProcess(EventWriter* writer, bool joined, uint8_t* buffer, size_t capacity);

// Records the definition of the calling thread.
void DefineThread(EventWriter* writer);

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_SESSION_H_
