// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/collector.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "cupti_tracer/activity_writer.h"
#include "cupti_tracer/buffer_pool.h"
#include "cupti_tracer/enable_records.h"
#include "cupti_tracer/other_tools.h"
#include "cupti_tracer/tracer.h"

namespace vramtrack::cupti {
namespace {

constexpr uint64_t kPeriodMs = 200;  // what a kill may cost
constexpr int kPatienceMs = 2000;    // of the process's end
constexpr int kHasteMs = 1000;       // of one that may come at any place, from a signal handler for instance

enum State : int {
  kIdle,     // never started
  kRunning,  // records come
  kLeaving,  // they are to be written, and none asked for afterwards
  kOver,
};

// A semaphore on which one thread waits until another posts. Thread-safe. Must never be destroyed.
class Wakeup {
 public:
  // Call this first. Returns false if the semaphore cannot be created.
  bool Init() { return sem_init(&posted_, 0, 0) == 0; }
  // Ends one wait, now or later. Async-signal-safe.
  void Post() { sem_post(&posted_); }
  // Waits at most `ms` milliseconds. Returns false if there was no post.
  bool Wait(int ms) {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += static_cast<long>(ms % 1000) * 1000000;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (sem_timedwait(&posted_, &until) != 0) {
      if (errno != EINTR) return false;
    }
    return true;
  }
  // Discards earlier posts.
  void Clear() {
    while (sem_trywait(&posted_) == 0) {
    }
  }

 private:
  sem_t posted_;
};

// Never destroyed: CUPTI may call while the process ends.
struct Collector {
  Collected what;
  BufferPool buffers;
  ActivityWriter writer;  // of the thread
  pid_t process;
  Wakeup wake, left, flushed;
  std::atomic<bool> flush_wanted;
  std::atomic<int> state;
  std::atomic<const char*> why;  // it leaves
  std::atomic<long> thread;      // its id in the system
};
Collector collector;

const Library& Cupti() { return *collector.what.library; }

// In a thread of the program: no allocation, no system call as long as there are buffers.
void HandOutBuffer(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  Buffer* free = collector.buffers.TakeFree();
  *buffer = free != nullptr ? free->data : nullptr;  // CUPTI drops records and counts them
  *bytes = free != nullptr ? Buffer::kBytes : 0;
  *max_records = 0;
  if (collector.buffers.free_count() < BufferPool::kLow) collector.wake.Post();
}

void TakeBackBuffer(void* context, uint32_t stream, uint8_t* data, size_t, size_t valid_bytes) {
  if (data == nullptr) return;
  Buffer* buffer = Buffer::Of(data);
  buffer->context = context;
  buffer->stream = stream;
  buffer->valid_bytes = valid_bytes;
  collector.buffers.Complete(buffer);
  collector.wake.Post();
}

// False: it had left, or was never there.
bool Leave(const char* why) {
  int state = kIdle;
  if (collector.state.compare_exchange_strong(state, kOver)) {  // it has not begun, and does not
    collector.why.store(why);
    return false;
  }
  state = kRunning;
  if (!collector.state.compare_exchange_strong(state, kLeaving)) return false;
  collector.why.store(why);
  collector.wake.Post();
  return true;
}

// After a call of CUPTI that failed; the first one is said, if nothing else was a reason before.
void LeaveWithError(const char* what, int result) {
  const char* why = Cupti().Text(result);
  bool first = Leave(why);
  if (!first && collector.state.load() == kLeaving && *collector.why.load() == '\0') {  // at the program's end
    collector.why.store(why);
    first = true;
  }
  if (first) Say("%s (%s); API hooks keep recording", what, why);
}

void WriteFrame() {
  const int result = collector.writer.WriteFrame();
  if (result != kSuccess) LeaveWithError("the clock of CUPTI cannot be read", result);
}

void ReadCompleted() {
  while (Buffer* buffer = collector.buffers.TakeCompleted()) {
    const int result = collector.writer.Read(*buffer);
    if (result != kMaxLimitReached) LeaveWithError("records of CUPTI cannot be read", result);
    collector.buffers.GiveFree(buffer);
  }
}

// A library that was loaded since may have brought a CUPTI of its own.
void LookAtNewLibraries() {
  collector.what.recorder->watch_new_libraries();
  if (collector.what.others_are_ours) return;
  const char* path =
      OtherCupti(collector.what.recorder, reinterpret_cast<const void*>(Cupti().cuptiActivityRegisterCallbacks));
  if (path == nullptr) return;
  Say("CUPTI tracing stopped: %s loaded its own CUPTI and a process can have one client; API hooks keep recording",
      path);
  Leave("another CUPTI was loaded");
}

void Flush(uint32_t flags) {
  const int result = Cupti().cuptiActivityFlushAll(flags);
  if (result != kSuccess) LeaveWithError("CUPTI delivers no more records", result);
}

// The last that is fetched. `flush`: CUPTI is asked for what it has not delivered yet.
void Finish(bool flush) {
  // Another tool that takes the records over wants none of ours among them, and none of our buffers.
  if (*collector.why.load() != '\0') DisableRecords(Cupti(), collector.what.record_kinds);
  if (flush) Flush(kFlushForced);
  ReadCompleted();
  collector.writer.CountDropped(nullptr, 0);
  WriteFrame();
  collector.writer.AddSpan(false, collector.why.load());
  collector.writer.WriteFrame();
  collector.state.store(kOver);
  collector.left.Post();
}

uint64_t NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000;
}

void* Work(void*) {
  collector.thread.store(syscall(SYS_gettid));
  pthread_setname_np(pthread_self(), "vramtrack-cupti");
  collector.writer.AddSpan(true, "");
  collector.writer.WriteFrame();  // both clocks are known from the beginning
  uint64_t next_flush = 0;
  // Any call of CUPTI may call another tool back, before whose own calls this thread leaves at once.
  while (collector.state.load() != kOver) {
    collector.wake.Wait(static_cast<int>(kPeriodMs));
    if (collector.state.load() == kLeaving) {
      Finish(true);
      break;
    }
    while (collector.buffers.free_count() < BufferPool::kLow && collector.buffers.Grow()) {
    }
    if (collector.state.load() == kOver) break;
    ReadCompleted();
    const bool wanted = collector.flush_wanted.exchange(false);
    if (!wanted && NowMs() < next_flush) continue;
    next_flush = NowMs() + kPeriodMs;
    Flush(wanted ? kFlushForced : 0);
    if (collector.state.load() == kOver) break;
    ReadCompleted();
    collector.writer.CountDropped(nullptr, 0);
    WriteFrame();
    if (wanted) collector.flushed.Post();
    if (collector.state.load() == kRunning) LookAtNewLibraries();
  }
  return nullptr;
}

// A forked child has neither the thread nor CUDA.
bool IsChild() { return collector.process != getpid(); }

// CUPTI, which this thread has called, has called a tool back, which calls us: nobody is there to be waited for.
bool IsOwnThread() { return collector.thread.load() == syscall(SYS_gettid); }

void LeaveAndWait(const char* why, int patience_ms) {
  if (IsChild()) return;
  const bool leaves = Leave(why);
  if (IsOwnThread()) {
    if (leaves) Finish(false);
    return;
  }
  if (collector.state.load() == kLeaving) collector.left.Wait(patience_ms);
  collector.left.Post();  // several threads may wait
}

void LeaveAtExit() { LeaveAndWait("", kPatienceMs); }

void LeaveInHaste() {
  const int error = errno;
  LeaveAndWait("", kHasteMs);
  errno = error;
}

// What was recorded until now is in the trace then.
void FlushInHaste() {
  if (IsChild() || collector.state.load() != kRunning) return;
  const int error = errno;
  if (IsOwnThread()) {
    ReadCompleted();
    WriteFrame();
  } else {
    collector.flushed.Clear();
    collector.flush_wanted.store(true);
    collector.wake.Post();
    collector.flushed.Wait(kHasteMs);
  }
  errno = error;
}

bool StartThread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are not for this thread
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, Work, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

bool PrepareCollector() {
  collector.process = getpid();
  if (!collector.wake.Init() || !collector.left.Init() || !collector.flushed.Init()) return false;
  while (collector.buffers.free_count() < BufferPool::kFirst && collector.buffers.Grow()) {
  }
  return true;
}

int GiveBuffersTo(const Library& library) {
  return library.cuptiActivityRegisterCallbacks(HandOutBuffer, TakeBackBuffer);
}

void LeaveToOther(const char* why) { LeaveAndWait(why, kPatienceMs); }

const char* WhyCollectorLeft() { return collector.why.load(); }

Start StartCollector(const Collected& collected) {
  collector.what = collected;
  if (!collector.writer.Prepare(collected.recorder, collected.library)) return Start::kNoThread;
  if (collector.writer.ReadClocks() != kSuccess) return Start::kNoClock;
  int idle = kIdle;
  if (!collector.state.compare_exchange_strong(idle, kRunning)) return Start::kTooLate;
  if (!StartThread()) {
    collector.state.store(kOver);
    return Start::kNoThread;
  }
  // Before the driver's own end, which was registered earlier.
  atexit(LeaveAtExit);
  at_quick_exit(LeaveAtExit);
  collected.recorder->listen_to_process_ends(LeaveInHaste, FlushInHaste);
  return Start::kStarted;
}

}  // namespace vramtrack::cupti
