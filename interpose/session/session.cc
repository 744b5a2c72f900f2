// SPDX-License-Identifier: Apache-2.0

#include "interpose/session/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstring>

#include "interpose/base/message.h"
#include "interpose/base/spin_lock.h"
#include "interpose/recorder/fork_gate.h"
#include "interpose/session/cupti_request.h"
#include "interpose/session/early_marks.h"
#include "interpose/stacks/stack_walk.h"

namespace vramtrack {

__thread ThreadState thread_state __attribute__((tls_model("initial-exec")));
Session::ForkPage* Session::fork_page_ = nullptr;
std::atomic<void (*)()> Session::on_switched{nullptr};

namespace {

constexpr uint64_t kMostNumbers = 1000;  // of files with the same name

// Recording was stopped in this process, or in the one that forked it.
std::atomic<bool> is_off{false};

pthread_key_t thread_end_key;
bool have_thread_end_key = false;

// Runs when a thread ends. Its events are sealed and its writer goes to a later thread. If another destructor calls
// CUDA after this one, the thread gets a writer again, and this runs again.
void OnThreadEnd(void* writer) {
  ThreadState& thread = thread_state;
  Session* session = Session::Running();
  if (session == nullptr || thread.session != session || thread.writer != writer) return;
  thread.busy = true;
  session->DetachThread(thread.writer);
  thread.writer = nullptr;
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
      return "its folder is not writable";
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
  if (page == nullptr) page = static_cast<ForkPage*>(MapPrivate(sizeof(ForkPage)));
  if (page == nullptr) return false;
  ForkPage* expected = nullptr;
  if (!__atomic_compare_exchange_n(&fork_page_, &expected, page, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    Unmap(page, sizeof(ForkPage));
    return true;
  }
  have_thread_end_key = pthread_key_create(&thread_end_key, OnThreadEnd) == 0;
  return true;
}

void Session::InstallForkHandler() {
  pthread_atfork(nullptr, nullptr, [] {
    if (fork_page_ == nullptr || fork_page_->state.load() == 0) return;
    fork_page_->session.store(nullptr);
    fork_page_->control.store(nullptr);
    fork_page_->state.store(0);
  });
}

// Waits until another thread has started the session. Returns false if it makes no progress.
bool Session::WaitForStarter() {
  Patience patience;
  while (fork_page_->state.load(std::memory_order_acquire) == 1) {
    if (!patience.Lasts(fork_page_->starter.load(std::memory_order_relaxed), 0)) return false;
    WaitWhile(&fork_page_->state, 1, Patience::kLookEveryNs);
  }
  return true;
}

Session* Session::New(bool joined) {
  // A privileged program's environment is not its own: it must not decide where files are written.
  if (getauxval(AT_SECURE) != 0) return nullptr;
  auto* const session = static_cast<Session*>(MapPrivate(sizeof(Session)));
  if (session == nullptr) Say("not recording: out of memory");
  return session != nullptr && session->Open(joined) ? session : nullptr;
}

Session* Session::Start(bool joined) {
  // A child forked halfway would find the unwinder half made.
  const ForkGateHolder hold;
  NoteCurrentThread();
  if (!MakeForkPage()) return nullptr;
  uint32_t expected = 0;
  if (!fork_page_->state.compare_exchange_strong(expected, 1)) return WaitForStarter() ? Running() : nullptr;
  fork_page_->starter.store(current_thread, std::memory_order_relaxed);
  Session* const session = New(joined);
  Publish(session);
  fork_page_->state.store(session != nullptr ? 2 : 3, std::memory_order_release);
  WakeAll(&fork_page_->state);
  return session;
}

Session* Session::Controlled(Session* session, uint64_t control) {
  if ((control & schema::CONTROL_STOP) == 0) return Restart(session);
  if ((control & schema::CONTROL_IDLE) == 0) session->End();
  CountIdle();
  return nullptr;
}

void Session::Publish(Session* session) {
  if (session != nullptr) fork_page_->control.store(session->control_, std::memory_order_relaxed);
  fork_page_->session.store(session, std::memory_order_release);
}

// A trace that has ended is not continued: blocks may have been freed meanwhile. What follows goes to a file of its
// own. Sessions stay in memory: other threads may be in a hook of theirs.
Session* Session::Restart(Session* old) {
  const ForkGateHolder hold;
  NoteCurrentThread();
  uint32_t expected = 2;
  Session* session = nullptr;
  if (fork_page_->state.compare_exchange_strong(expected, 1)) {
    fork_page_->starter.store(current_thread, std::memory_order_relaxed);
    session = Running();
    // Another thread may have gone on, and recording may have been stopped again, since the caller read this word.
    const uint64_t control = old->control_->load(std::memory_order_acquire);
    if (session == old && (control & kControlMask) == schema::CONTROL_IDLE) {
      if (old->begun_) {
        session = New(/*joined=*/true);
      } else if (old->Begin(/*joined=*/true)) {
        old->control_->fetch_and(~uint64_t{schema::CONTROL_IDLE | schema::CONTROL_LEFT}, std::memory_order_release);
      } else {
        session = nullptr;
      }
      if (session != nullptr) {
        Publish(session);
      } else {
        old->control_->fetch_or(schema::CONTROL_STOP, std::memory_order_relaxed);  // not again at each call
      }
    }
    fork_page_->state.store(2, std::memory_order_release);
    WakeAll(&fork_page_->state);
    if (void (*const notify)() = on_switched.load(std::memory_order_acquire)) notify();
  } else if (WaitForStarter()) {
    session = Running();
  }
  return session != nullptr && session->records() ? session : nullptr;
}

Session* Session::Join() {
  Session* session = Running();
  if (session == nullptr) {
    uint32_t impossible = 3;  // it may be possible with other options
    if (MakeForkPage()) fork_page_->state.compare_exchange_strong(impossible, 0);
    session = Start(/*joined=*/true);
  }
  if (session == nullptr) return nullptr;
  session->control_->fetch_and(~uint64_t{schema::CONTROL_STOP}, std::memory_order_acq_rel);
  return Recording(session);
}

bool Session::StopRecording() {
  Session* const session = Running();
  if (session == nullptr) return false;
  const uint64_t before = session->control_->fetch_or(schema::CONTROL_STOP, std::memory_order_acq_rel);
  if ((before & kControlMask) != 0) return false;
  session->End();
  return true;
}

// Before the process has noticed a stop, it needs its hooks to notice it.
bool Session::HasLeft() {
  Session* const session = Running();
  if (session == nullptr || (session->control_->load(std::memory_order_acquire) & schema::CONTROL_IDLE) == 0) {
    return false;
  }
  session->control_->fetch_or(schema::CONTROL_LEFT, std::memory_order_relaxed);
  return true;
}

// After exec a process keeps its number, in another container there is the same one, and the name may have none: an
// older file is never overwritten.
bool Session::CreateFile() {
  if (options_.max_bytes < TraceFile::kLeastMaxBytes) {
    Say("not recording: VRAMTRACK_MAX_BYTES=%llu is too small (at least %llu)",
        static_cast<unsigned long long>(options_.max_bytes),
        static_cast<unsigned long long>(TraceFile::kLeastMaxBytes));
    return false;
  }
  int error = file_.Create(options_.output, options_.max_bytes);
  if (error == -EEXIST && !IsRegularFile(options_.output)) {
    Say("not recording: %s exists and is not a regular file (VRAMTRACK_OUTPUT is the path of a new file)",
        options_.output);
    return false;
  }
  static char path[Options::kPathBytes];  // not on what may be a small stack
  for (uint64_t number = 2; error == -EEXIST; ++number) {
    // A folder with so many of one name is better off with names that nobody has to look for.
    if (!NumberedPath(options_.output, number <= kMostNumbers ? number : RealtimeNs(), path, sizeof path)) {
      error = -ENAMETOOLONG;
    } else {
      error = file_.Create(path, options_.max_bytes);
    }
  }
  if (error != 0) Say("not recording: cannot write %s: %s", options_.output, Reason(error));
  return error == 0;
}

bool Session::Open(bool joined) {
  if (!ReadOptions(&options_)) return false;
  ReportCuptiRequest();
  Clock::Calibrate();
  if (!CreateFile()) return false;
  control_ = file_.counter(schema::COUNTER_CONTROL);
  if (joined || !(options_.dormant || is_off.load(std::memory_order_relaxed))) return Begin(joined);
  control_->store(schema::CONTROL_STOP | schema::CONTROL_IDLE, std::memory_order_relaxed);
  return true;
}

bool Session::Begin(bool joined) {
  begun_ = true;
  is_off.store(false, std::memory_order_relaxed);
  joined_ = joined;
  // A recording begins with the first mark, if there was one before.
  const ClockReading now = {Clock::Ticks(), MonotonicNs(), RealtimeNs()};
  const ClockReading start = joined ? now : EarliestMark(now);
  const auto set = [this](schema::Counter counter, uint64_t value) {
    file_.counter(counter)->store(value, std::memory_order_relaxed);
  };
  set(schema::COUNTER_CLOCK_START_TICKS, start.ticks);
  set(schema::COUNTER_CLOCK_START_MONOTONIC_NS, start.monotonic_ns);
  set(schema::COUNTER_CLOCK_START_REALTIME_NS, start.realtime_ns);
  set(schema::COUNTER_CLOCK_TICKS, Clock::Ticks());
  set(schema::COUNTER_CLOCK_MONOTONIC_NS, MonotonicNs());
  set(schema::COUNTER_TICKS_PER_SECOND, Clock::ticks_per_second());

  wants_stacks_ = options_.native_stacks || options_.python_stacks;
  captures_.Prepare(options_.max_frames, OwnCode(), &stacks_, &modules_);
  if (options_.python_stacks) python_.Prepare(options_.max_frames, &stacks_, &modules_);
  holders_.Prepare(options_.holders, &python_, &file_);
  if (options_.holders.request) control_->fetch_or(schema::CONTROL_ANSWERS, std::memory_order_relaxed);
  EventWriter* writer = AttachThread();
  if (writer == nullptr) {
    file_.Discard();
    Say("not recording: cannot write %s: no space left", file_.path());
    return false;
  }
  constexpr size_t kBufferBytes = 8 * EventWriter::kMaxDefinitionWords - 64;
  if (void* buffer = MapPrivate(kBufferBytes)) {
    DefineProcess(writer, joined, static_cast<uint8_t*>(buffer), kBufferBytes);
    Unmap(buffer, kBufferBytes);
  }
  modules_.Refresh(writer);
  RecordEarlyMarks(this, writer);
  return true;
}

EventWriter* Session::AttachThread() {
  NoteCurrentThread();
  EventWriter* writer;
  {
    SpinLockHolder hold(&writers_lock_);
    writer = hold.held() ? free_writers_ : nullptr;
    if (writer != nullptr) free_writers_ = writer->next_free;
  }
  uint64_t* journal = writer != nullptr ? writer->journal() : nullptr;
  if (writer == nullptr) {
    if (file_.stopped()) return nullptr;
    writer = static_cast<EventWriter*>(MapPrivate(sizeof(EventWriter)));
    if (writer == nullptr) return nullptr;
    journal = file_.NewJournal();
    if (journal == nullptr) {
      Unmap(writer, sizeof(EventWriter));
      return nullptr;
    }
  }
  writer->Attach(&file_, journal, next_thread_.fetch_add(1, std::memory_order_relaxed));
  DefineThread(writer);
  thread_state.session = this;
  thread_state.writer = writer;
  attached_threads_.fetch_add(1, std::memory_order_relaxed);
  thread_state.release_stack = 0;
  thread_state.capture = options_.native_stacks ? captures_.threads().Acquire() : nullptr;
  if (have_thread_end_key) pthread_setspecific(thread_end_key, writer);
  return writer;
}

void Session::DetachThread(EventWriter* writer) {
  attached_threads_.fetch_sub(1, std::memory_order_relaxed);
  if (thread_state.capture != nullptr) {
    captures_.Publish(thread_state.capture, &file_);
    captures_.threads().Release(thread_state.capture);
  }
  // Where recording has stopped, the journal keeps what it holds and is not used again.
  if (!writer->Seal()) return ReportIfStopped();
  file_.EndThread(writer->thread());
  SpinLockHolder hold(&writers_lock_);
  if (!hold.held()) return;  // it is not used again
  writer->next_free = free_writers_;
  free_writers_ = writer;
}

bool Session::FirstReportOf(uint32_t device, DeviceFact fact) {
  if (device >= 64) return false;
  std::atomic<uint64_t>& set = devices_known_[static_cast<size_t>(fact)];
  const uint64_t bit = uint64_t{1} << device;
  if (set.load(std::memory_order_relaxed) & bit) return false;
  return (set.fetch_or(bit) & bit) == 0;
}

// The program closed the descriptor, as many do with all that they do not know, and the name no longer helps.
void Session::SayTaken() {
  switch (file_.reopen_error()) {
    case 0:
      return Say("recording stopped: the program closed the trace's file descriptor, and %s is another file now",
                 file_.path());
    case -ENOENT:
    case -ENOTDIR:
      return Say(
          "recording stopped: the program closed the trace's file descriptor, and %s was removed; "
          "what was recorded is lost",
          file_.path());
    default:
      return Say(
          "recording stopped: the program closed the trace's file descriptor, and %s cannot be opened again: "
          "%s; what was recorded is kept",
          file_.path(), strerror(-file_.reopen_error()));
  }
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
      return SayTaken();
    default:
      break;
  }
  Say("recording stopped: %s: %s; what was recorded is kept", file_.path(), why);
}

// Completes the trace of a session that was stopped.
void Session::End() {
  if ((control_->fetch_or(schema::CONTROL_IDLE, std::memory_order_acq_rel) & schema::CONTROL_IDLE) != 0) return;
  is_off.store(true, std::memory_order_relaxed);
  // Before the trace is complete: who waits for that finds the process as it was.
  if (void (*const notify)() = on_switched.load(std::memory_order_acquire)) notify();
  ThreadState& thread = thread_state;
  const bool own = thread.session == this && thread.writer != nullptr;
  if (own) thread.writer->Seal();
  captures_.PublishAll(&file_);
  file_.Finish(Clock::Ticks(), attached_threads_.load(std::memory_order_relaxed) - own);
}

void Session::FinishRunning() {
  Session* session = Running();
  if (session == nullptr) return;
  if ((session->control_->load(std::memory_order_acquire) & schema::CONTROL_IDLE) != 0) {
    if (!session->begun_) session->file_.Discard();
    return;
  }
  ThreadState& thread = thread_state;
  const bool nested = thread.busy;
  thread.busy = true;
  if (thread.session == session && thread.writer != nullptr) thread.writer->Seal();
  session->captures_.PublishAll(&session->file_);
  const uint32_t own = thread.session == session && thread.writer != nullptr;
  const uint32_t attached = session->attached_threads_.load(std::memory_order_relaxed);
  session->file_.Finish(Clock::Ticks(), attached - own);
  session->ReportIfStopped();
  if (session->file_.removed() && !session->said_stopped_.exchange(true)) {
    const char* path = session->file_.path();
    if (IsRegularFile(path)) {
      Say("%s was replaced by another file while it was written; what was recorded is lost unless that file holds it",
          path);
    } else {
      Say("%s was removed while it was written; what was recorded is lost", path);
    }
  }
  thread.busy = nested;
}

namespace {

__attribute__((constructor)) void AtStart() {
  ForkGate::Install();
  Session::InstallForkHandler();
  GateUnwinder();
}

__attribute__((destructor)) void AtExit() { Session::FinishRunning(); }

}  // namespace

}  // namespace vramtrack
