// SPDX-License-Identifier: Apache-2.0
#include "cupti_tracer/tracer.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "cupti_tracer/buffer_pool.h"
#include "cupti_tracer/cupti_library.h"
#include "cupti_tracer/enable_records.h"
#include "cupti_tracer/other_tools.h"
#include "cupti_tracer/record_kinds.h"
#include "cupti_tracer/record_reader.h"
#include "proto/activity_encoder.h"

namespace vramtrack::cupti {
namespace {

constexpr int kPeriodMs = 200;     // what a kill may cost
constexpr int kSoonMs = 5;         // the driver is being initialized
constexpr int kPatienceMs = 2000;  // of the process's end
constexpr int kHasteMs = 1000;     // of one that may come at any place, from a signal handler for instance

enum State : int {
  kIdle,     // never started
  kRunning,  // records come
  kLeaving,  // they are to be written, and none asked for afterwards
  kOver,
};

// Never destroyed: CUPTI may call while the process ends.
struct Tracer {
  const VramtrackRecorder* recorder;
  Library library;
  BufferPool buffers;
  ActivityEncoder* encoder;  // of the worker
  uint32_t record_kinds;
  uint64_t dropped;
  bool others_are_ours;  // a newer libcupti was loaded and did not start
  pid_t process;
  pthread_t worker;
  sem_t wake, left, flushed;
  std::atomic<bool> flush_wanted;
  std::atomic<int> state;
  std::atomic<const char*> why;  // it leaves
};
Tracer tracer;

__attribute__((format(printf, 1, 2))) void Say(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  tracer.recorder->say(line);
}

// In a thread of the program: no allocation, no system call as long as there are buffers.
void HandOutBuffer(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  Buffer* free = tracer.buffers.TakeFree();
  *buffer = free != nullptr ? free->data : nullptr;  // CUPTI drops records and counts them
  *bytes = free != nullptr ? Buffer::kBytes : 0;
  *max_records = 0;
  if (tracer.buffers.free_count() < BufferPool::kLow) sem_post(&tracer.wake);
}

void TakeBackBuffer(void* context, uint32_t stream, uint8_t* data, size_t, size_t valid_bytes) {
  if (data == nullptr) return;
  Buffer* buffer = Buffer::Of(data);
  buffer->context = context;
  buffer->stream = stream;
  buffer->valid_bytes = valid_bytes;
  tracer.buffers.Complete(buffer);
  sem_post(&tracer.wake);
}

ActivityTie ReadTie() {
  ActivityTie best = {};
  uint64_t best_ticks = UINT64_MAX;
  // The one that was interrupted least.
  for (int i = 0; i < 3; ++i) {
    uint64_t ns = 0;
    const uint64_t before = tracer.recorder->ticks();
    if (tracer.library.cuptiGetTimestamp(&ns) != kSuccess) continue;
    const uint64_t after = tracer.recorder->ticks();
    if (after - before >= best_ticks) continue;
    best_ticks = after - before;
    best = {ns, before + best_ticks / 2};
  }
  return best;
}

void WriteFrame() {
  ActivityEncoder& encoder = *tracer.encoder;
  if (encoder.empty()) return;
  const uint64_t records = encoder.records();
  const bool may_go = tracer.recorder->frames_may_go() != 0;
  size_t bytes;
  uint8_t* frame = encoder.Finish(tracer.library.version, ReadTie(), may_go, &bytes);
  const bool written = bytes != 0 && tracer.recorder->append_activities(frame, bytes, records) != 0;
  if (!written || may_go) encoder.ForgetTexts();
}

void CountDropped(void* context, uint32_t stream) {
  size_t dropped = 0;
  if (tracer.library.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) != kSuccess || dropped == 0) return;
  tracer.dropped += dropped;
  tracer.recorder->set_dropped(tracer.dropped);
}

void ReadBuffer(Buffer* buffer) {
  Activity* activity = nullptr;
  while (tracer.library.cuptiActivityGetNextRecord(buffer->data, buffer->valid_bytes, &activity) == kSuccess) {
    ActivityRecord record;
    if (tracer.encoder->full()) WriteFrame();
    if (ReadRecord(*activity, tracer.library.has_source(), tracer.encoder, &record)) tracer.encoder->Add(record);
  }
  CountDropped(buffer->context, buffer->stream);
  tracer.buffers.GiveFree(buffer);
}

void ReadCompleted() {
  while (Buffer* buffer = tracer.buffers.TakeCompleted()) ReadBuffer(buffer);
}

void Leave(const char* why) {
  int state = kIdle;
  if (tracer.state.compare_exchange_strong(state, kOver)) {  // it has not begun, and does not
    tracer.why.store(why);
    return;
  }
  state = kRunning;
  if (!tracer.state.compare_exchange_strong(state, kLeaving)) return;
  tracer.why.store(why);
  sem_post(&tracer.wake);
}

// A library that was loaded since may have brought a CUPTI of its own.
void LookAtNewLibraries() {
  tracer.recorder->watch_new_libraries();
  if (tracer.others_are_ours) return;
  const char* path =
      OtherCupti(tracer.recorder, reinterpret_cast<const void*>(tracer.library.cuptiActivityRegisterCallbacks));
  if (path == nullptr) return;
  Say("no more CUPTI: %s has one of its own, and CUPTI serves one in a process; hooked events go on", path);
  Leave("another CUPTI was loaded");
}

timespec In(int ms) {
  timespec at;
  clock_gettime(CLOCK_REALTIME, &at);
  at.tv_nsec += static_cast<long>(ms % 1000) * 1000000;
  at.tv_sec += ms / 1000 + at.tv_nsec / 1000000000;
  at.tv_nsec %= 1000000000;
  return at;
}

// False: it is to be tried again soon.
bool EnableLateKinds() {
  int result;
  const Late late = EnableLateRecords(tracer.library, tracer.record_kinds, &result);
  if (late == Late::kRefused) Say("no unified memory records: %s", tracer.library.Text(result));
  return late != Late::kNotYet;
}

void* Work(void*) {
  pthread_setname_np(pthread_self(), "vramtrack-cupti");
  tracer.encoder->AddSpan(true, tracer.recorder->ticks(), "");
  WriteFrame();  // both clocks are known from the beginning
  uint64_t next_flush = 0;
  bool all_enabled = false;
  for (;;) {
    const timespec until = In(all_enabled ? kPeriodMs : kSoonMs);
    while (sem_timedwait(&tracer.wake, &until) != 0 && errno == EINTR) {
    }
    const bool leaving = tracer.state.load() == kLeaving;
    if (!leaving && !all_enabled) all_enabled = EnableLateKinds();
    while (tracer.buffers.free_count() < BufferPool::kLow && tracer.buffers.Grow()) {
    }
    ReadCompleted();
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t now_ms = static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000;
    const bool wanted = tracer.flush_wanted.exchange(false);
    if (!leaving && !wanted && now_ms < next_flush) continue;
    next_flush = now_ms + kPeriodMs;
    // Another tool that takes the records over wants none of ours among them, and none of our buffers.
    if (leaving && *tracer.why.load() != '\0') DisableRecords(tracer.library, tracer.record_kinds);
    const int result = tracer.library.cuptiActivityFlushAll(leaving || wanted ? kFlushForced : 0);
    ReadCompleted();
    CountDropped(nullptr, 0);
    if (leaving) break;
    WriteFrame();
    if (wanted) sem_post(&tracer.flushed);
    if (result != kSuccess) {
      Say("CUPTI delivers no more records (%s); hooked events go on", tracer.library.Text(result));
      Leave(tracer.library.Text(result));
    } else {
      LookAtNewLibraries();
    }
  }
  tracer.encoder->AddSpan(false, tracer.recorder->ticks(), tracer.why.load());
  WriteFrame();
  tracer.state.store(kOver);
  sem_post(&tracer.left);
  return nullptr;
}

// A forked child has neither the thread nor CUDA.
bool IsChild() { return tracer.process != getpid(); }

void LeaveAndWait(const char* why, int patience_ms) {
  if (IsChild()) return;
  Leave(why);
  const timespec until = In(patience_ms);
  while (tracer.state.load() == kLeaving && sem_timedwait(&tracer.left, &until) != 0 && errno == EINTR) {
  }
  sem_post(&tracer.left);  // several threads may wait
}

bool EnableKinds() {
  const Enabled enabled = EnableRecords(tracer.library, tracer.record_kinds);
  if (enabled.refused != nullptr) {
    const bool not_allowed =
        enabled.result == kInsufficientPrivileges || enabled.result == kVirtualizedInsufficientPrivileges;
    Say("no CUPTI: it refuses %s records: %s%s; hooked events go on", enabled.refused,
        tracer.library.Text(enabled.result),
        not_allowed ? " (the driver's NVreg_RestrictProfilingToAdminUsers keeps them for administrators)" : "");
    return false;
  }
  if (enabled.every_call) Say("this CUPTI cannot record memory calls alone: all API calls are recorded");
  return true;
}

void LeaveToOther(const char* why) { LeaveAndWait(why, kPatienceMs); }
void LeaveAtExit() { LeaveAndWait("", kPatienceMs); }

void LeaveInHaste() {
  const int error = errno;
  LeaveAndWait("", kHasteMs);
  errno = error;
}

// What was recorded until now is in the trace then.
void FlushInHaste() {
  if (IsChild() || tracer.state.load() != kRunning) return;
  const int error = errno;
  while (sem_trywait(&tracer.flushed) == 0) {
  }
  tracer.flush_wanted.store(true);
  sem_post(&tracer.wake);
  const timespec until = In(kHasteMs);
  while (sem_timedwait(&tracer.flushed, &until) != 0 && errno == EINTR) {
  }
  errno = error;
}

// NVTX gives its marks to one tool, which the program's environment names: that is not taken from anybody.
void SayWhereMarkersGo() {
  const RecordKind* markers = nullptr;
  for (size_t i = 0; i < kRecordKindCount; ++i) {
    if ((tracer.record_kinds >> i & 1) != 0 && kRecordKinds[i].kinds[0] == kMarker) markers = &kRecordKinds[i];
  }
  const char* named = getenv("NVTX_INJECTION64_PATH");
  if (markers == nullptr || (named != nullptr && strstr(named, "libcupti.so") != nullptr)) return;
  Say("no NVTX markers of CUPTI's: NVTX_INJECTION64_PATH does not name libcupti but %s",
      named != nullptr && *named != '\0' ? named : "nothing");
}

bool StartWorker() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are not for this thread
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const bool started = pthread_create(&tracer.worker, &attributes, Work, nullptr) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool Prepare() {
  if (!ParseRecordKinds(getenv("VRAMTRACK_CUPTI_RECORDS"), &tracer.record_kinds)) {
    Say("no CUPTI: VRAMTRACK_CUPTI_RECORDS=%s is no list of memory, pools, kernels, copies, fills, synchronization, "
        "graphs, calls, markers, unified and external",
        getenv("VRAMTRACK_CUPTI_RECORDS"));
    return false;
  }
  if (const char* tool = OtherTool()) {
    Say("no CUPTI: %s is at work, and CUPTI serves one tool; hooked events go on", tool);
    return false;
  }
  if (const char* path = OtherCupti(tracer.recorder, LoadedLibrary(tracer.recorder->look_up))) {
    Say("no CUPTI: %s has one of its own, and CUPTI serves one in a process; hooked events go on", path);
    return false;
  }
  void* memory = mmap(nullptr, sizeof(ActivityEncoder), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || sem_init(&tracer.wake, 0, 0) != 0 || sem_init(&tracer.left, 0, 0) != 0 ||
      sem_init(&tracer.flushed, 0, 0) != 0) {
    return false;
  }
  tracer.encoder = static_cast<ActivityEncoder*>(memory);
  while (tracer.buffers.free_count() < BufferPool::kFirst && tracer.buffers.Grow()) {
  }
  return true;
}

int Register(const Library& library) {
  const int result = library.cuptiActivityRegisterCallbacks(HandOutBuffer, TakeBackBuffer);
  tracer.others_are_ours = tracer.others_are_ours || IsTooNew(result);
  return result;
}

bool Begin() {
  int result;
  if (FindLibrary(tracer.recorder->look_up, Register, &tracer.library, &result)) return true;
  if (result == kSuccess) {
    Say("no CUPTI: libcupti.so.13, .12 and .11.8 are not installed, or newer than the driver; hooked events go on");
  } else {
    Say("no CUPTI: %s (%s); hooked events go on", tracer.library.Text(result),
        IsTooNew(result) ? "it is newer than the driver" : "another tool may hold it");
  }
  return false;
}

void SayTooLate() {
  const char* why = tracer.why.load();
  Say("no CUPTI: %s; hooked events go on", why != nullptr ? why : "another tool came first");
}

}  // namespace

void StartTracer(const VramtrackRecorder* recorder) {
  if (tracer.recorder != nullptr) return;
  tracer.recorder = recorder;
  tracer.process = getpid();
  if (!Prepare()) return;
  GiveWayToOthers(recorder, LeaveToOther);
  if (tracer.state.load() != kIdle) return SayTooLate();
  if (!Begin()) return;
  // Before memory records begin: a record says who asked, where CUPTI can tell.
  if (tracer.library.has_source()) tracer.library.cuptiActivityEnableAllocationSource(1);
  if (!EnableKinds()) return;
  SayWhereMarkersGo();
  int idle = kIdle;
  if (!tracer.state.compare_exchange_strong(idle, kRunning)) {
    DisableRecords(tracer.library, tracer.record_kinds);
    return SayTooLate();
  }
  if (!StartWorker()) {
    Say("no CUPTI: its thread cannot be started; hooked events go on");
    DisableRecords(tracer.library, tracer.record_kinds);
    tracer.state.store(kOver);
    return;
  }
  // Before the driver's own end, which was registered earlier.
  atexit(LeaveAtExit);
  at_quick_exit(LeaveAtExit);
  recorder->listen_to_process_ends(LeaveInHaste, FlushInHaste);
}

}  // namespace vramtrack::cupti
