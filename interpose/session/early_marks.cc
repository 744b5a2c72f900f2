// SPDX-License-Identifier: Apache-2.0
#include "interpose/session/early_marks.h"

#include <errno.h>

#include <atomic>
#include <cstring>

#include "interpose/base/clock.h"
#include "interpose/base/system_call.h"
#include "interpose/session/mark_names.h"

namespace vramtrack {
namespace {

constexpr uint32_t kHalf = 512;  // how many first ones are kept, and how many last ones
constexpr uint32_t kNames = 128;
constexpr uint32_t kThreads = 64;

struct EarlyMark {
  uint64_t ticks, first, second;  // a step's values; of a mark only the second one
  uint8_t operation, kind;
  uint16_t name;  // 1 + its place, 0 for none
};

struct EarlyName {
  uint64_t hash;
  const char* domain;  // as in NameOf
  bool of_domain;      // it is the domain's own
  char text[PlainName::kMaxBytes + 1];
};

}  // namespace

// Of one thread, in memory that a forked child finds empty.
struct EarlyMarks {
  ClockReading start;
  std::atomic<bool> started;  // `start` is set: another thread may read it
  uint64_t count;             // of marks ever
  uint32_t names;
  int64_t open_in_gap;         // ranges pushed, less those popped, of the marks that were overwritten
  uint64_t gap_end;            // when the last one of these was
  EarlyMark marks[2 * kHalf];  // the first ones, and the last ones in a ring
  EarlyName name[kNames];
};

namespace {

std::atomic<EarlyMarks*> of_threads[kThreads];
std::atomic<uint32_t> thread_count;

EarlyMarks* OfThisThread() {
  ThreadState& thread = thread_state;
  if (thread.early == nullptr) {
    if (thread_count.load(std::memory_order_relaxed) >= kThreads) return nullptr;
    Clock::Choose();
    auto* const mine = static_cast<EarlyMarks*>(MapWipedOnFork(sizeof(EarlyMarks)));
    if (mine == nullptr) return nullptr;
    const uint32_t place = thread_count.fetch_add(1, std::memory_order_relaxed);
    if (place >= kThreads) {
      Unmap(mine, sizeof(EarlyMarks));
      return nullptr;
    }
    thread.early = mine;
    of_threads[place].store(mine, std::memory_order_release);
  }
  if (thread.early->count == 0) {
    thread.early->started.store(false, std::memory_order_relaxed);
    thread.early->start = {Clock::Ticks(), MonotonicNs(), RealtimeNs()};
    thread.early->started.store(true, std::memory_order_release);
  }
  return thread.early;
}

// The place of a name, counted from 1; 0 where there is no room.
uint16_t PlaceOf(EarlyMarks* early, const char* domain, const char* message, uint64_t* number) {
  const PlainName plain(message != nullptr ? message : "");
  *number = plain.number();
  const bool of_domain = message == nullptr;
  for (uint32_t i = 0; i < early->names; ++i) {
    const EarlyName& name = early->name[i];
    if (name.hash == plain.Hash() && name.domain == domain && name.of_domain == of_domain) {
      return static_cast<uint16_t>(i + 1);
    }
  }
  if (early->names == kNames) return 0;
  EarlyName& name = early->name[early->names++];
  name.hash = plain.Hash();
  name.domain = domain;
  name.of_domain = of_domain;
  std::memcpy(name.text, plain.text(), plain.length());
  return static_cast<uint16_t>(early->names);
}

int Opens(const EarlyMark& mark) {
  if (mark.operation != schema::MARK) return 0;
  return mark.kind == schema::MARK_RANGE_PUSH ? 1 : mark.kind == schema::MARK_RANGE_POP ? -1 : 0;
}

void Keep(EarlyMarks* early, const EarlyMark& mark) {
  EarlyMark& place = early->marks[early->count < kHalf ? early->count : kHalf + early->count % kHalf];
  if (early->count >= 2 * kHalf) {
    early->open_in_gap += Opens(place);
    early->gap_end = place.ticks;
  }
  place = mark;
  ++early->count;
}

// What a signal handler or a destructor calls while the thread is in here is not kept.
template <typename Make>
void Note(Make make) {
  ThreadState& thread = thread_state;
  if (thread.busy) return;
  const int saved_errno = errno;
  thread.busy = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (EarlyMarks* early = OfThisThread()) Keep(early, make(early));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.busy = false;
  errno = saved_errno;
}

void Record(const EarlyMarks& early, const EarlyMark& mark, Session* session, EventWriter* writer) {
  if (mark.operation == schema::STEP) {
    writer->EventAt(mark.ticks, schema::STEP, 0, 0, 0, 0, mark.first, mark.second);
    return;
  }
  uint32_t id = 0;
  if (mark.name != 0) {
    const EarlyName& name = early.name[mark.name - 1];
    id = name.of_domain ? DomainName(name.domain, session, writer) : NameOf(name.text, name.domain, session, writer).id;
  }
  writer->EventAt(mark.ticks, schema::MARK, mark.kind, 0, 0, 0, uint64_t{id}, mark.second);
}

}  // namespace

void NoteEarlyMark(schema::MarkKind kind, const char* domain, const char* message, uint64_t id) {
  Note([&](EarlyMarks* early) {
    EarlyMark mark = {Clock::Ticks(), 0, id, schema::MARK, static_cast<uint8_t>(kind), 0};
    const bool named = message != nullptr || (domain != nullptr && kind != schema::MARK_RANGE_END);
    uint64_t number = 0;
    if (named) mark.name = PlaceOf(early, domain, message, &number);
    if (id == 0) mark.second = number;
    return mark;
  });
}

void NoteEarlyStep(uint64_t number, double value) {
  Note([&](EarlyMarks*) {
    EarlyMark mark = {Clock::Ticks(), number, 0, schema::STEP, 0, 0};
    std::memcpy(&mark.second, &value, sizeof value);
    return mark;
  });
}

void RecordEarlyMarks(Session* session, EventWriter* writer) {
  EarlyMarks* const early = thread_state.early;
  if (early == nullptr || early->count == 0) return;
  // Marks from before a joined process was recorded are not of its trace.
  const bool kept = !session->joined();
  for (uint64_t i = 0; kept && i < early->count && i < kHalf; ++i) Record(*early, early->marks[i], session, writer);
  if (kept && early->count > kHalf) {
    EarlyMark filler = {early->gap_end, 0, 0, schema::MARK, schema::MARK_RANGE_POP, 0};
    for (int64_t i = early->open_in_gap; i < 0 && i >= -int64_t{kHalf}; ++i) Record(*early, filler, session, writer);
    filler.kind = schema::MARK_RANGE_PUSH;
    for (int64_t i = 0; i < early->open_in_gap && i < int64_t{kHalf}; ++i) Record(*early, filler, session, writer);
    const uint64_t begin = early->count >= 2 * kHalf ? early->count - kHalf : kHalf;
    for (uint64_t i = begin; i < early->count; ++i) {
      Record(*early, early->marks[kHalf + i % kHalf], session, writer);
    }
  }
  early->started.store(false, std::memory_order_relaxed);
  early->count = early->names = 0;
  early->open_in_gap = 0;
  std::memset(early->name, 0, sizeof early->name);
}

ClockReading EarliestMark(const ClockReading& now) {
  ClockReading earliest = now;
  const uint32_t count = thread_count.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count && i < kThreads; ++i) {
    const EarlyMarks* const early = of_threads[i].load(std::memory_order_acquire);
    if (early == nullptr || !early->started.load(std::memory_order_acquire)) continue;
    if (early->start.monotonic_ns < earliest.monotonic_ns) earliest = early->start;
  }
  return earliest;
}

}  // namespace vramtrack
