// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attach/injection.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#if defined(__x86_64__)

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "analyzer/attach/injected_code.h"
#include "analyzer/attach/safe_moment.h"
#include "analyzer/attach/stopped_thread.h"
#include "analyzer/attach/target_process.h"

namespace vramtrack {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPageBytes = 4096, kDataPages = 6, kVectorPages = 4, kStackPages = 16;
// Code, data, vector registers, stack.
constexpr size_t kRegionBytes = (1 + kDataPages + kVectorPages + kStackPages) * kPageBytes;
constexpr size_t kMessageBytes = 2 * kPageBytes;
constexpr uint64_t kLibcDlopen = 0x80000000;  // __RTLD_DLOPEN, for __libc_dlopen_mode
constexpr double kLoadLimitSeconds = 60;
constexpr uint64_t kPatienceMs = 20000;
constexpr int64_t kStopWithinNs = 100'000'000;
constexpr std::chrono::milliseconds kBetweenLooks(2);
constexpr int kLooksAtDying = 1000;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

absl::Status Failed(pid_t pid, const std::string& what) {
  return absl::FailedPreconditionError(absl::StrCat("process ", pid, ": ", what));
}

// Whether it ends within two seconds.
bool DiesNow(const TargetProcess& process) {
  for (int i = 0; i < kLooksAtDying && !process.HasEnded(); ++i) std::this_thread::sleep_for(kBetweenLooks);
  return process.HasEnded();
}

// Of a process that has ended.
absl::Status Ended(const TargetProcess& process, bool filtered, const std::string& why) {
  return Failed(process.pid(), absl::StrCat("ended while it was joined", why.empty() ? "" : " (" + why + ")",
                                            filtered ? ": its seccomp policy may end it for a system call that joining "
                                                       "needs; start it with vramtrack run instead"
                                                     : ""));
}

// The functions of the C library that the code needs.
absl::Status FindFunctions(const TargetProcess& process, InjectedBlock* block) {
  const std::vector<std::string> libc = {"libc.so.6", "libc-2."};
  const std::vector<std::string> threads = {"libc.so.6", "libc-2.", "libpthread"};
  const std::vector<std::string> loader = {"libc.so.6", "libc-2.", "libdl"};
  block->make_thread = process.FunctionIn(threads, "pthread_create");
  block->self = process.FunctionIn(threads, "pthread_self");
  block->detach = process.FunctionIn(threads, "pthread_detach");
  block->load = process.FunctionIn(loader, "dlopen");
  block->look_up = process.FunctionIn(loader, "dlsym");
  block->error_text = process.FunctionIn(loader, "dlerror");
  block->flags = RTLD_NOW;
  if (block->load == 0 || block->look_up == 0) {  // before glibc 2.34, where libdl is not loaded
    block->load = process.FunctionIn(libc, "__libc_dlopen_mode");
    block->look_up = process.FunctionIn(libc, "__libc_dlsym");
    block->error_text = 0;
    block->flags |= kLibcDlopen;
  }
  block->sleep = process.FunctionIn(libc, "usleep");
  block->unmap = process.FunctionIn(libc, "munmap");
  for (const uint64_t function :
       {block->make_thread, block->self, block->detach, block->load, block->look_up, block->sleep, block->unmap}) {
    if (function == 0) {
      return Failed(process.pid(),
                    "its C library lacks a function that is needed (expected glibc 2.34, or a program "
                    "with threads)");
    }
  }
  return absl::OkStatus();
}

// No signal ends this process while it exists.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

// The data of the code, as bytes. `region`: where the code is.
class Data {
 public:
  explicit Data(uint64_t region) : at_(region + kPageBytes), bytes_(sizeof(InjectedBlock)) {}
  uint64_t Text(const std::string& text) {
    const uint64_t at = at_ + bytes_.size();
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.resize((bytes_.size() + 8) / 8 * 8);  // with a zero
    return at;
  }
  std::vector<uint8_t> With(const InjectedBlock& block) {
    std::memcpy(bytes_.data(), &block, sizeof block);
    return bytes_;
  }
  size_t size() const { return bytes_.size(); }

 private:
  const uint64_t at_;
  std::vector<uint8_t> bytes_;
};

// Makes the stopped thread create the thread that loads the library. Returns the address of the block.
absl::StatusOr<uint64_t> MakeThread(const TargetProcess& process, const Injection& injection, InjectedBlock block,
                                    uint64_t spare, StoppedThread* thread) {
  if (absl::Status prepared = thread->Prepare(spare); !prepared.ok()) return prepared;
  const absl::StatusOr<int64_t> region =
      thread->Call(SYS_mmap, {0, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, ~uint64_t{0}, 0});
  if (!region.ok()) return region.status();
  if (*region < 0 && *region > -4096) {
    return Failed(process.pid(),
                  absl::StrCat("cannot allocate memory in it: ", std::strerror(static_cast<int>(-*region))));
  }
  const auto at = static_cast<uint64_t>(*region);
  const auto give_back = [&] { return thread->Call(SYS_munmap, {at, kRegionBytes}).ok(); };
  const uint64_t message = at + (1 + kDataPages) * kPageBytes - kMessageBytes;
  Data data(at);
  block.begin = at;
  block.bytes = kRegionBytes;
  block.path = data.Text(injection.library);
  block.name = data.Text("vramtrack_start");
  block.options = data.Text(injection.options);
  block.message = message;
  block.message_bytes = kMessageBytes;
  block.patience = kPatienceMs;
  block.make_result = InjectedBlock::kNotMade;
  block.vectors = at + (1 + kDataPages) * kPageBytes;
  block.nanoseconds = kStopWithinNs;
  block.way_back = thread->way_back();
  if (data.size() > kDataPages * kPageBytes - kMessageBytes) {
    give_back();
    return Failed(process.pid(), "the options are too long");
  }
  const InjectedCode code = TheInjectedCode();
  if (!thread->Write(at, code.bytes) || !thread->Write(at + kPageBytes, data.With(block))) {
    return Failed(process.pid(), "cannot write to its memory");
  }
  const absl::StatusOr<int64_t> executable = thread->Call(SYS_mprotect, {at, kPageBytes, PROT_READ | PROT_EXEC});
  if (!executable.ok()) return executable.status();
  if (*executable != 0) {
    give_back();
    return Failed(process.pid(),
                  absl::StrCat("new code is forbidden in it (seccomp, SELinux or MemoryDenyWriteExecute): ",
                               std::strerror(static_cast<int>(-*executable))));
  }
  const uint64_t block_at = at + kPageBytes;
  const auto made = [&] {
    return process.Read(block_at, &block, sizeof block) && block.make_result != InjectedBlock::kNotMade;
  };
  const auto left = [&] { return process.Read(block_at, &block, sizeof block) && block.left != 0; };
  if (absl::Status ran = thread->Run(at + code.start, at + kRegionBytes - 64, block_at, made, left); !ran.ok()) {
    return ran;
  }
  if (block.make_result != 0) {
    give_back();
    return Failed(process.pid(),
                  absl::StrCat("cannot create a thread in it: ", std::strerror(static_cast<int>(block.make_result))));
  }
  return block_at;
}

// Waits for the new thread.
absl::Status WaitForResult(const TargetProcess& process, bool filtered, uint64_t at, Injected* injected) {
  const Clock::time_point start = Clock::now();
  InjectedBlock block;
  while (true) {
    StoppedThread::ReleaseLate();
    if (!process.Read(at, &block, sizeof block)) {
      if (DiesNow(process)) return Ended(process, filtered, "");
      return Failed(process.pid(), "replaced its memory while it was joined (another program was started by exec)");
    }
    if (block.state == InjectedBlock::kDone) break;
    if (SecondsSince(start) > kLoadLimitSeconds) {
      return Failed(process.pid(),
                    "the library is not loaded after a minute (another thread may hold the loader's lock)");
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  std::string text;
  if (block.failure != InjectedBlock::kNone) text = block.error != 0 ? process.ReadText(block.error, 1000) : "";
  if (block.failure == InjectedBlock::kNone) injected->message = process.ReadText(block.message, kMessageBytes);
  injected->result = static_cast<int>(block.result);
  const uint64_t acknowledged = 1;
  process.Write(at + offsetof(InjectedBlock, acknowledged), &acknowledged, sizeof acknowledged);
  switch (block.failure) {
    case InjectedBlock::kNotLoaded:
      return Failed(process.pid(), "cannot load the library: " + (text.empty() ? "reason unknown" : text));
    case InjectedBlock::kNoFunction:
      return Failed(process.pid(), "the library is another version: " + (text.empty() ? "it lacks a function" : text));
    default:
      return absl::OkStatus();
  }
}

}  // namespace

absl::Status CheckInjectable(pid_t) { return absl::OkStatus(); }

absl::StatusOr<Injected> Inject(const Injection& injection) {
  absl::StatusOr<TargetProcess> process = TargetProcess::Open(injection.pid);
  if (!process.ok()) return process.status();
  if (process->Status("Seccomp") == "1") return Failed(injection.pid, "is in seccomp's strict mode");
  const bool filtered = process->Status("Seccomp") == "2";
  const std::string state = process->Status("State");
  if (absl::StartsWith(state, "T")) return Failed(injection.pid, "is stopped (continue it first: kill -CONT)");
  const std::string tracer = process->Status("TracerPid");
  if (absl::StartsWith(state, "t") || (!tracer.empty() && tracer != "0")) return process->WhyRefused();
  InjectedBlock block = {};
  if (absl::Status found = FindFunctions(*process, &block); !found.ok()) return found;

  const Clock::time_point start = Clock::now();
  Injected injected;
  std::string why = "no thread was found";
  std::optional<uint64_t> at;
  while (!at) {
    StoppedThread::ReleaseLate();  // also if no thread can be used now
    if (process->HasEnded()) return Failed(injection.pid, "ended before it was joined");
    if (absl::Status read = process->ReadMappings(); !read.ok()) return read;
    const SafeMoments moments(*process);
    for (const pid_t id : moments.Candidates()) {
      StoppedThread::ReleaseLate();
      if (StoppedThread::IsLate(id)) continue;
      // Looked for while no thread stands still; what an attempt leaves there makes the next one take another place.
      const uint64_t spare = process->SpareCode(StoppedThread::kWayBackBytes);
      if (spare == 0) return Failed(injection.pid, "none of its files has room for code");
      const SignalsHeld held;
      absl::StatusOr<std::unique_ptr<StoppedThread>> thread = StoppedThread::Stop(id);
      if (absl::IsPermissionDenied(thread.status())) return process->WhyRefused();
      if (!thread.ok()) {
        why = std::string(thread.status().message());
        continue;
      }
      ++injected.moments;
      absl::StatusOr<uint64_t> made = absl::UnavailableError("");
      if (moments.IsSafe(**thread, &why)) made = MakeThread(*process, injection, block, spare, thread->get());
      injected.pause_s = std::max(injected.pause_s, (*thread)->seconds());
      if (made.ok()) {
        at = *made;
        break;
      }
      if (!absl::IsUnavailable(made.status())) return made.status();
      if (!made.status().message().empty()) {
        why = std::string(made.status().message());
        thread->reset();
        // It dies of it as soon as it goes on.
        if (filtered ? DiesNow(*process) : process->HasEnded()) return Ended(*process, filtered, why);
      }
    }
    if (!at && SecondsSince(start) > injection.limit_s) {
      return Failed(injection.pid, absl::StrCat("no thread was at a safe moment within ", injection.limit_s,
                                                " s (the last one was ", why, "); try again"));
    }
    if (!at) std::this_thread::sleep_for(kBetweenLooks);
  }
  if (absl::Status waited = WaitForResult(*process, filtered, *at, &injected); !waited.ok()) return waited;
  for (int i = 0; i < 100; ++i) {
    StoppedThread::ReleaseLate();
    if (!StoppedThread::AnyLate()) break;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return injected;
}

}  // namespace vramtrack

#else

namespace vramtrack {

absl::Status CheckInjectable(pid_t pid) {
  return absl::UnimplementedError(absl::StrCat("process ", pid,
                                               ": attach is not supported on this machine yet (expected x86-64; start "
                                               "the program with vramtrack run --dormant)"));
}

absl::StatusOr<Injected> Inject(const Injection& injection) { return CheckInjectable(injection.pid); }

}  // namespace vramtrack

#endif  // defined(__x86_64__)
