// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/python_stacks.h"

#include "interpose/python/code_deaths.h"

namespace vramtrack {

void PythonStacks::Prepare(size_t max_frames, StackTable* stacks, ModuleMap* modules) {
  max_frames_ = static_cast<uint32_t>(max_frames);
  stacks_ = stacks;
  modules_ = modules;
  wanted_ = true;
}

// One function for all hooks: so its code is in the cache more often.
__attribute__((noinline)) uint64_t PythonStacks::InnermostNow() const {
  const Candidate* python = current_.load(std::memory_order_acquire);
  return python == nullptr ? 0 : python->interpreter.InnermostFrame(python->checked.load(std::memory_order_acquire));
}

// Looks for the interpreter among the libraries that are loaded now. Returns false while they change.
__attribute__((noinline, cold)) bool PythonStacks::Look(EventWriter* writer) {
  if (modules_->refresh_due() && !modules_->Refresh(writer)) return false;
  if (modules_->generation() == looked_at_.load(std::memory_order_acquire)) return true;
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return true;
  const uint32_t generation = modules_->generation();
  const LoadedObject program = Program();
  Candidate* found = nullptr;
  // False once one is found.
  const auto look_in = [&](const LoadedObject& object) {
    found = Known(object);
    if (found != nullptr || used_ == kMaxInterpreters) return found == nullptr;
    Candidate* next = &candidates_[used_];
    const Interpreter::Found what = next->interpreter.LookIn(object, program);
    if (what == Interpreter::Found::kNone) return true;
    found = next;
    ++used_;
    if (what == Interpreter::Found::kUnknown) Refuse(next, writer);
    return false;
  };
  // An interpreter that was found is met again each time: it may have gone.
  if (current_.load(std::memory_order_relaxed) != nullptr || used_ != 0) {
    EachLoadedObject(look_in);
  } else {
    EachNewObject(&visited_, [&](const LoadedObject& object) {
      if (found == nullptr) look_in(object);
    });
  }
  // It may have gone and come back to the same place.
  if (found != nullptr && found->checked.load(std::memory_order_relaxed)) Watch(found);
  current_.store(found == nullptr || found->refused ? nullptr : found, std::memory_order_release);
  looked_at_.store(generation, std::memory_order_release);
  return true;
}

PythonStacks::Candidate* PythonStacks::Known(const LoadedObject& object) {
  for (size_t i = 0; i < used_; ++i) {
    if (candidates_[i].interpreter.IsIn(object)) return &candidates_[i];
  }
  return nullptr;
}

// Once, on the first thread that has frames: what they say must look like frames.
__attribute__((noinline)) bool PythonStacks::Check(Candidate* python, uint64_t frame, EventWriter* writer) {
  const bool plausible = FramesArePlausible(python->interpreter, frame);
  SpinLockHolder hold(&lock_);
  if (!hold.held() || python->refused) return false;
  if (!plausible) {
    Refuse(python, writer);
    current_.store(nullptr, std::memory_order_release);
    return false;
  }
  if (!python->checked.load(std::memory_order_relaxed)) {
    Watch(python);
    python->checked.store(true, std::memory_order_release);
  }
  return true;
}

void PythonStacks::Watch(const Candidate* python) {
  CodeDeaths::Watch(python->interpreter, static_cast<size_t>(python - candidates_));
}

// With the lock held.
void PythonStacks::Refuse(Candidate* python, EventWriter* writer) {
  python->refused = true;
  refused_.store(&python->interpreter, std::memory_order_release);
  writer->Define<256>(schema::definitions_field::unseen, [&](MessageWriter* out) {
    out->String(schema::unseen_field::library, python->interpreter.described());
    out->Varint(schema::unseen_field::reason, schema::UNSEEN_PYTHON);
  });
}

__attribute__((noinline)) uint32_t PythonStacks::TakeFrom(uint64_t frame, EventWriter* writer) {
  Candidate* python = current_.load(std::memory_order_acquire);
  if (python == nullptr) return 0;
  if (__builtin_expect(!python->checked.load(std::memory_order_acquire), 0) && !Check(python, frame, writer)) return 0;
  const uint64_t hash = HashOfFrames(python->interpreter.offsets(), frame, max_frames_);
  const uint32_t known = KnownStack(hash);
  return __builtin_expect(known != 0, 1) ? known : Walk(python->interpreter, frame, hash, writer);
}

// The frames lie on the stack: who runs Python has one that is much larger.
__attribute__((noinline)) uint32_t PythonStacks::Walk(const Interpreter& python, uint64_t frame, uint64_t hash,
                                                      EventWriter* writer) {
  PythonFrames frames;
  const uint32_t deaths = CodeDeaths::count();
  ReadFrames(python, frame, max_frames_, &frames);
  if (frames.count == 0) return 0;
  const auto* words = reinterpret_cast<const uint64_t*>(frames.frames);
  const uint32_t number =
      stacks_->Intern({StackWords::kPython, frames.truncated, words, 2 * frames.count}, writer,
                      [&](uint32_t number) { return Define(number, frames, python.offsets(), writer); });
  if (number != 0 && frames.settled) known_.Insert(hash, uint64_t{deaths} << 32 | number);
  return number;
}

__attribute__((noinline)) bool PythonStacks::Define(uint32_t number, const PythonFrames& frames,
                                                    const FrameOffsets& offsets, EventWriter* writer) {
  namespace f = schema::pythonStack_field;
  constexpr size_t kMostBytes = 2 * (kMaxVarintBytes + 2) + 10 * kMaxFrames;
  uint32_t codes[kMaxFrames];
  for (size_t i = 0; i < frames.count; ++i) {
    codes[i] = codes_.NumberOf(frames.frames[i], offsets, writer);
    if (codes[i] == 0) return false;
  }
  return writer->Define<kMostBytes + 32>(schema::definitions_field::python_stacks, [&](MessageWriter* out) {
    out->Varint(f::id, number);
    out->Varint(f::truncated, frames.truncated);
    uint8_t* column = out->Begin(f::code);
    for (size_t i = 0; i < frames.count; ++i) out->RawVarint(codes[i]);
    out->End(column);
    column = out->Begin(f::instruction);
    for (size_t i = 0; i < frames.count; ++i) {
      out->RawVarint((frames.frames[i].instruction() & ~1u) | static_cast<uint32_t>(frames.frames[i].entry()));
    }
    out->End(column);
  });
}

}  // namespace vramtrack
