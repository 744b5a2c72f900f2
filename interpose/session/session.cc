// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstring>

#include "interpose/recorder/fork_gate.h"
#include "interpose/session/cupti_request.h"
#include "interpose/session/early_marks.h"
#include "interpose/session/message.h"
#include "interpose/session/process_info.h"
#include "interpose/stacks/unwinder_gate.h"

namespace vramtrack {

__thread ThreadState thread_state __attribute__((tls_model("initial-exec")));
Session::ForkPage* Session::fork_page_ = nullptr;

namespace {

pthread_key_t thread_end_key;
bool have_thread_end_key = false;

// Runs when a thread ends. Its events are sealed and its lane goes to a later thread. If another destructor calls CUDA
// after this one, the thread gets a lane again, and this runs again.
void OnThreadEnd(void* lane) {
  ThreadState& thread = thread_state;
  Session* session = Session::Running();
  if (session == nullptr || thread.session != session || thread.lane != lane) return;
  thread.busy = true;
  session->DetachThread(thread.lane);
  thread.lane = nullptr;
  thread.capture = nullptr;
  thread.busy = false;
}

const char* Reason(int error) {
  switch (-error) {
    case ENOENT:
      return "its folder does not exist";
    case EACCES:
    case EPERM:
    case EROFS:
      return "its folder cannot be written";
    case ENOSPC:
    case EDQUOT:
      return "the disk is full";
    case EFBIG:
      return "the limit on the size of files is too low";
    case ENODEV:
      return "its file system cannot map files";
    case ENAMETOOLONG:
      return "the name is too long";
    default:
      return strerror(-error);
  }
}

}  // namespace

bool Session::MakeForkPage() {
  if (fork_page_ != nullptr) return true;
  auto* page = static_cast<ForkPage*>(MapWipedOnFork(sizeof(ForkPage)));
  bool wiped_by_kernel = page != nullptr;
  if (!wiped_by_kernel) page = static_cast<ForkPage*>(MapPrivate(sizeof(ForkPage)));
  if (page == nullptr) return false;
  ForkPage* expected = nullptr;
  if (!__atomic_compare_exchange_n(&fork_page_, &expected, page, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    Unmap(page, sizeof(ForkPage));
    return true;
  }
  if (!wiped_by_kernel) {
    pthread_atfork(nullptr, nullptr, [] {
      fork_page_->session.store(nullptr);
      fork_page_->state.store(0);
    });
  }
  have_thread_end_key = pthread_key_create(&thread_end_key, OnThreadEnd) == 0;
  return true;
}

Session* Session::Start() {
  // A child forked halfway would find the unwinder half made.
  const ForkGateHolder hold;
  if (!MakeForkPage()) return nullptr;
  int expected = 0;
  if (!fork_page_->state.compare_exchange_strong(expected, 1)) {
    // Whoever starts it may stand still until we are done, see SpinLock.
    constexpr uint64_t kPatienceNs = 10000000000;
    for (const uint64_t start = MonotonicNs(); fork_page_->state.load(std::memory_order_acquire) == 1; Yield()) {
      if (MonotonicNs() - start > kPatienceNs) return nullptr;
    }
    return Running();
  }
  Session* session = nullptr;
  // A privileged program's environment is not its own: it must not decide where files are written.
  if (getauxval(AT_SECURE) == 0) {
    session = static_cast<Session*>(MapPrivate(sizeof(Session)));
    if (session == nullptr) Say("not recording: no memory");
  }
  if (session != nullptr && !session->Open()) session = nullptr;
  fork_page_->session.store(session, std::memory_order_release);
  fork_page_->state.store(session != nullptr ? 2 : 3, std::memory_order_release);
  return session;
}

bool Session::Open() {
  ReadOptions(&options_);
  ReportCuptiRequest();
  Clock::Calibrate();
  int error = file_.Create(options_.output, options_.max_bytes);
  // After exec a process keeps its number, and the name may lack one: an older file is never overwritten.
  static char path[Options::kPathBytes];  // not on what may be a small stack
  for (int n = 1; error == -EEXIST && n < 1000; ++n) {
    snprintf(path, sizeof path, "%s.%d", options_.output, n);
    error = file_.Create(path, options_.max_bytes);
  }
  if (error != 0) {
    Say("not recording: cannot write %s: %s", options_.output, Reason(error));
    return false;
  }
  // A recording begins with the first mark, if there was one before.
  const ClockReading start = EarliestMark({Clock::Ticks(), MonotonicNs(), RealtimeNs()});
  const auto set = [this](schema::Counter counter, uint64_t value) {
    file_.counter(counter)->store(value, std::memory_order_relaxed);
  };
  set(schema::COUNTER_CLOCK_START_TICKS, start.ticks);
  set(schema::COUNTER_CLOCK_START_MONOTONIC_NS, start.monotonic_ns);
  set(schema::COUNTER_CLOCK_START_REALTIME_NS, start.realtime_ns);
  set(schema::COUNTER_CLOCK_TICKS, Clock::Ticks());
  set(schema::COUNTER_CLOCK_MONOTONIC_NS, MonotonicNs());
  set(schema::COUNTER_TICKS_PER_SECOND, Clock::ticks_per_second());

  captures_.Prepare(options_.max_frames, OwnCode());
  if (options_.python_stacks) python_.Prepare(options_.max_frames, &stacks_, &modules_);
  Lane* lane = AttachThread();
  if (lane == nullptr) {
    file_.Discard();
    Say("not recording: cannot write %s: no room", file_.path());
    return false;
  }
  constexpr size_t kBufferBytes = 8 * Lane::kMaxDefinitionWords - 64;
  if (void* buffer = MapPrivate(kBufferBytes)) {
    DefineProcess(lane, static_cast<uint8_t*>(buffer), kBufferBytes);
    Unmap(buffer, kBufferBytes);
  }
  modules_.Refresh(lane);
  RecordEarlyMarks(this, lane);
  return true;
}

Lane* Session::AttachThread() {
  Lane* lane;
  {
    SpinLockHolder hold(&lanes_lock_);
    lane = hold.held() ? free_lanes_ : nullptr;
    if (lane != nullptr) free_lanes_ = lane->next_free;
  }
  uint64_t* journal = lane != nullptr ? lane->journal() : nullptr;
  if (lane == nullptr) {
    if (file_.stopped()) return nullptr;
    lane = static_cast<Lane*>(MapPrivate(sizeof(Lane)));
    if (lane == nullptr) return nullptr;
    journal = file_.NewJournal();
    if (journal == nullptr) {
      Unmap(lane, sizeof(Lane));
      return nullptr;
    }
  }
  lane->Attach(&file_, journal, next_thread_.fetch_add(1, std::memory_order_relaxed));
  DefineThread(lane);
  thread_state.session = this;
  thread_state.lane = lane;
  attached_threads_.fetch_add(1, std::memory_order_relaxed);
  thread_state.release_stack = 0;
  thread_state.capture = options_.native_stacks ? captures_.threads().Acquire() : nullptr;
  if (have_thread_end_key) pthread_setspecific(thread_end_key, lane);
  return lane;
}

void Session::DetachThread(Lane* lane) {
  attached_threads_.fetch_sub(1, std::memory_order_relaxed);
  if (thread_state.capture != nullptr) captures_.threads().Release(thread_state.capture);
  // Where recording has stopped, the journal keeps what it holds and is not used again.
  if (!lane->Seal()) return ReportIfStopped();
  file_.EndThread(lane->thread());
  SpinLockHolder hold(&lanes_lock_);
  if (!hold.held()) return;  // it is not used again
  lane->next_free = free_lanes_;
  free_lanes_ = lane;
}

bool Session::FirstReportOf(uint32_t device, bool with_total) {
  if (device >= 64) return false;
  std::atomic<uint64_t>& set = with_total ? devices_sized_ : devices_named_;
  const uint64_t bit = uint64_t{1} << device;
  if (set.load(std::memory_order_relaxed) & bit) return false;
  return (set.fetch_or(bit) & bit) == 0;
}

void Session::ReportIfStopped() {
  if (!file_.stopped() || said_stopped_.exchange(true)) return;
  const char* why = "it could not be written";
  switch (file_.counter(schema::COUNTER_STOP_REASON)->load()) {
    case schema::STOP_DISK_FULL:
      why = "the disk is full";
      break;
    case schema::STOP_SIZE_CAP:
      why = "its size limit is reached";
      break;
    case schema::STOP_FILE_TAKEN:
      why = "the program closed it";
      break;
    default:
      break;
  }
  Say("recording stopped: %s: %s; what was recorded is kept", file_.path(), why);
}

void Session::FinishRunning() {
  Session* session = Running();
  if (session == nullptr) return;
  ThreadState& thread = thread_state;
  const bool nested = thread.busy;
  thread.busy = true;
  if (thread.session == session && thread.lane != nullptr) thread.lane->Seal();
  session->captures_.Publish(&session->file_);
  const uint32_t own = thread.session == session && thread.lane != nullptr;
  const uint32_t attached = session->attached_threads_.load(std::memory_order_relaxed);
  session->file_.Finish(Clock::Ticks(), attached - own);
  session->ReportIfStopped();
  thread.busy = nested;
}

namespace {

__attribute__((constructor)) void AtStart() {
  ForkGate::Install();
  GateUnwinder();
}

__attribute__((destructor)) void AtExit() { Session::FinishRunning(); }

}  // namespace

}  // namespace vramtrack
