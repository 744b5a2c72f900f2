// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/holders.h"

#include <errno.h>
#include <unistd.h>

#include <cstring>

#include "interpose/base/clock.h"
#include "interpose/base/message.h"
#include "interpose/base/system_call.h"
#include "interpose/holders/object_walk.h"
#include "interpose/holders/walk_record.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMostNs = 1'000'000'000;  // of one walk
constexpr uint32_t kWindow = 128;            // events
constexpr uint32_t kRisingWindows = 3;
constexpr uint64_t kFirstGrowthEvents = 512, kLeastGrowth = 8 << 20;
// Free space of a bounded file comes in pieces.
constexpr size_t kPartBytes = 4 << 20, kBoundedPartBytes = 12 << 10;

// Definitions of the interpreter's C interface (methodobject.h).
struct MethodDefinition {
  const char* name;
  uint64_t (*function)(uint64_t self, uint64_t argument);
  int flags;
  const char* description;
};
constexpr int kNoArguments = 4;

Holders* exiting = nullptr;  // the one that watches the end of this process

struct Memory {
  holders::ObjectWalk walk;
  holders::WalkRecord record;
};

}  // namespace

namespace {

struct MomentName {
  const char* name;
  bool HolderMoments::*asked;
};
constexpr MomentName kMoments[] = {{"growth", &HolderMoments::growth},
                                   {"oom", &HolderMoments::out_of_memory},
                                   {"exit", &HolderMoments::exit},
                                   {"request", &HolderMoments::request}};

struct Unit {
  const char* name;
  uint64_t ns;
};
constexpr Unit kUnits[] = {{"ms", 1'000'000}, {"s", 1'000'000'000}, {"m", 60'000'000'000}, {"h", 3600'000'000'000}};

// A whole number, which is not 0, and its unit.
bool ParseDuration(const char* text, size_t size, uint64_t* ns) {
  uint64_t number = 0;
  size_t digits = 0;
  for (; digits < size && digits < 9 && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    number = 10 * number + static_cast<uint64_t>(text[digits] - '0');
  }
  for (const Unit& unit : kUnits) {
    const size_t length = std::strlen(unit.name);
    if (number == 0 || size - digits != length || std::strncmp(text + digits, unit.name, length) != 0) continue;
    *ns = number * unit.ns;
    return true;
  }
  return false;
}

}  // namespace

bool ParseHolderMoments(const char* text, HolderMoments* moments) {
  *moments = {};
  if (*text == '\0' || std::strcmp(text, "0") == 0) return true;
  while (*text != '\0') {
    const size_t size = std::strcspn(text, ",");
    const auto is = [&](const char* word) { return std::strlen(word) == size && std::strncmp(text, word, size) == 0; };
    bool known = false;
    for (const MomentName& moment : kMoments) {
      if (!is("all") && !is("1") && !is(moment.name)) continue;
      moments->*moment.asked = known = true;
    }
    if (!known && !ParseDuration(text, size, &moments->interval_ns)) return false;
    text += size;
    if (*text == ',') ++text;
  }
  return true;
}

void Holders::Prepare(const HolderMoments& moments, PythonStacks* python, TraceFile* file) {
  moments_ = moments;
  python_ = python;
  file_ = file;
  process_ = getpid();
  on_ = moments.any();
  if (moments.interval_ns != 0) next_interval_ns_.store(MonotonicNs() + moments.interval_ns);
}

bool Holders::HasPython() {
  const uint32_t known = has_python_.load(std::memory_order_acquire);
  if (known != 0) return known == 1;
  const Interpreter* interpreter = python_->interpreter();
  const Interpreter* refused = interpreter == nullptr ? python_->refused() : nullptr;
  if (interpreter == nullptr && refused == nullptr) return false;  // not yet
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return false;
  if (has_python_.load(std::memory_order_relaxed) == 0) {
    const bool found = interpreter != nullptr && api_.Find(*interpreter);
    if (!found) Refuse((interpreter != nullptr ? interpreter : refused)->described());
    has_python_.store(found ? 1 : 2, std::memory_order_release);
  }
  return has_python_.load(std::memory_order_relaxed) == 1;
}

void Holders::Refuse(const char* python) {
  Say("holders are not looked for: %s has objects that cannot be walked", python);
  file_->counter(schema::COUNTER_CONTROL)->fetch_and(~uint64_t{schema::CONTROL_ANSWERS}, std::memory_order_relaxed);
}

bool Holders::Schedule(schema::HolderMoment moment) {
  if (!HasPython() || getpid() != process_ || api_.interpreter->IsFinalizing()) return false;
  if (api_.refuses_pending_calls != nullptr && *api_.refuses_pending_calls != 0) return false;
  uint32_t before = 0;
  if (!scheduled_.compare_exchange_strong(before, 1 + static_cast<uint32_t>(moment))) {
    // What is scheduled comes at the same time; out of memory matters most.
    if (moment == schema::HOLDERS_AT_OUT_OF_MEMORY || before == 1) scheduled_.store(1 + static_cast<uint32_t>(moment));
    return true;
  }
  if (api_.add_pending_call(OnPending, this) == 0) return true;
  scheduled_.store(0);  // its queue is full
  return false;
}

void Holders::NoteMemory(uint32_t device, uint64_t bytes) {
  if (__builtin_expect(moments_.exit && !asked_to_watch_.load(std::memory_order_relaxed), 0)) {
    if (Schedule(schema::HOLDERS_NEVER)) asked_to_watch_.store(true, std::memory_order_relaxed);
  }
  if (moments_.request) {
    const uint64_t requests = file_->counter(schema::COUNTER_HOLDER_REQUESTS)->load(std::memory_order_relaxed);
    if (__builtin_expect(requests != requests_.load(std::memory_order_relaxed), 0) &&
        Schedule(schema::HOLDERS_AT_REQUEST)) {
      requests_.store(requests, std::memory_order_relaxed);
    }
  }
  if (moments_.interval_ns != 0) {
    const uint64_t now = MonotonicNs();
    if (now >= next_interval_ns_.load(std::memory_order_relaxed)) {
      next_interval_ns_.store(now + moments_.interval_ns, std::memory_order_relaxed);
      Schedule(schema::HOLDERS_AT_INTERVAL);
    }
  }
  if (!moments_.growth || device >= kMaxDevices) return;
  Growth& g = growth_[device];
  ++g.events;
  if (g.in_window == 0 || bytes < g.low) g.low = bytes;
  if (++g.in_window < kWindow) return;
  g.in_window = 0;
  g.rising = g.low > g.last_low ? g.rising + 1 : 0;
  g.last_low = g.low;
  const uint64_t least = g.reference / 16 > kLeastGrowth ? g.reference / 16 : kLeastGrowth;
  if (g.rising < kRisingWindows || g.low < g.reference + least) return;
  if (g.events < (g.next_walk != 0 ? g.next_walk : kFirstGrowthEvents)) return;
  if (!Schedule(schema::HOLDERS_AT_GROWTH)) return;
  g.reference = g.low;
  g.next_walk = 2 * g.events;
  g.rising = 0;
}

void Holders::NoteOutOfMemory() {
  if (moments_.out_of_memory) Schedule(schema::HOLDERS_AT_OUT_OF_MEMORY);
}

bool Holders::Request() { return on_ && Schedule(schema::HOLDERS_AT_REQUEST); }

// In the main thread, with the interpreter's lock.
int Holders::OnPending(void* self) {
  auto* holders = static_cast<Holders*>(self);
  if (getpid() != holders->process_) return 0;
  const uint32_t scheduled = holders->scheduled_.exchange(0);
  if (scheduled == 0) return 0;
  const int saved_errno = errno;
  if (holders->moments_.exit && !holders->watches_exit_.exchange(true)) holders->WatchExit();
  if (scheduled != 1) holders->Walk(static_cast<schema::HolderMoment>(scheduled - 1));
  errno = saved_errno;
  return 0;
}

uint64_t Holders::OnExit(uint64_t, uint64_t) {
  const int saved_errno = errno;
  if (exiting != nullptr && exiting->process_ == getpid()) exiting->Walk(schema::HOLDERS_AT_EXIT);
  errno = saved_errno;
  return exiting->api_.none();
}

// Registers a function with Python's atexit, which runs while all objects are still there.
void Holders::WatchExit() {
  static MethodDefinition definition = {"vramtrack_holders_at_exit", OnExit, kNoArguments, nullptr};
  const uint64_t module = api_.dict_get(api_.modules(), "atexit");
  if (module == 0) return;
  const uint64_t registers = api_.get_attribute(module, "register");
  if (registers == 0) return api_.clear_error();
  // One that the program has replaced is the program's code.
  if (holders::TypeOf(registers) == api_.builtin_function) {
    if (const uint64_t function = api_.new_function(&definition, 0, 0)) {
      exiting = this;
      // Our reference is never released: before 3.11 a function that the collector does not know crashes when it is
      // deallocated (meth_dealloc in Objects/methodobject.c).
      api_.untrack(function);
      if (const uint64_t result = api_.call(registers, function, 0)) {
        api_.release(result);
      } else {
        api_.clear_error();
      }
    } else {
      api_.clear_error();
    }
  }
  api_.release(registers);
}

void Holders::Walk(schema::HolderMoment moment) {
  if (file_->stopped()) return;
  const uint64_t begin_ns = MonotonicNs();
  auto* memory = static_cast<Memory*>(MapPrivate(sizeof(Memory)));
  if (memory == nullptr) return;
  UseHugePages(memory, sizeof(Memory));
  holders::WalkFacts facts = {};
  facts.number = ++walks_;
  facts.moment = moment;
  facts.begin_ticks = Clock::Ticks();
  const bool failing = moment == schema::HOLDERS_AT_OUT_OF_MEMORY || moment == schema::HOLDERS_AT_EXIT;
  facts.stopped = memory->walk.Run(api_, kMostNs, failing, reached_last_ + reached_last_ / 8);
  reached_last_ = memory->walk.reached().size();
  facts.end_ticks = Clock::Ticks();
  memory->record.Begin(&memory->walk, facts);
  bool written = true;
  size_t bytes;
  const bool bounded = file_->bounded();
  const size_t most_bytes = bounded ? kBoundedPartBytes : kPartBytes;
  for (bool begins = true; written; begins = false) {
    uint8_t* frame = memory->record.Next(most_bytes, bounded, &bytes);
    if (frame == nullptr) break;
    written = file_->AppendHolderWalk(frame, bytes, begins);
  }
  if (written) file_->counter(schema::COUNTER_HOLDER_WALKS)->fetch_add(1, std::memory_order_release);
  memory->record.Free();
  memory->walk.Free();
  Unmap(memory, sizeof(Memory));
  if (moments_.interval_ns == 0) return;
  // The program has nine times as much time as walks take, however often they are asked for.
  const uint64_t end_ns = MonotonicNs(), pause_ns = 9 * (end_ns - begin_ns);
  next_interval_ns_.store(end_ns + (pause_ns > moments_.interval_ns ? pause_ns : moments_.interval_ns));
}

}  // namespace vramtrack
