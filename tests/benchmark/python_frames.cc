// SPDX-License-Identifier: Apache-2.0
//
// What reading Python's frames takes, in the interpreter that loads this library, which python_frames.py does. Each
// function does its thing `times` times and returns the nanoseconds of one.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "interpose/python/python_stacks.h"

// Of the interpreter's public interface, for comparison.
extern "C" {
void* PyEval_GetFrame() __attribute__((weak));
void* PyFrame_GetBack(void* frame) __attribute__((weak));
void* PyFrame_GetCode(void* frame) __attribute__((weak));
int PyFrame_GetLasti(void* frame) __attribute__((weak));
void Py_IncRef(void* object) __attribute__((weak));
void Py_DecRef(void* object) __attribute__((weak));
}

namespace vramtrack {
namespace {

template <typename T>
T* Zeroed() {
  return static_cast<T*>(MapPrivate(sizeof(T)));
}

StackTable* stacks = Zeroed<StackTable>();
ModuleMap* modules = Zeroed<ModuleMap>();
PythonStacks* python = Zeroed<PythonStacks>();
TraceFile* file = Zeroed<TraceFile>();
EventWriter* writer = Zeroed<EventWriter>();
Interpreter interpreter;
PythonFrames frames;

template <typename Do>
double NsOf(long times, Do once) {
  const uint64_t start = MonotonicNs();
  for (long i = 0; i < times; ++i) once();
  return static_cast<double>(MonotonicNs() - start) / static_cast<double>(times);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int prepare() {
  const std::string path = "/tmp/python_frames." + std::to_string(getpid()) + ".vtrace";
  Clock::Calibrate();
  if (file->Create(path.c_str(), UINT64_MAX) != 0) return 1;
  unlink(path.c_str());
  writer->Attach(file, file->NewJournal(), 0);
  modules->Refresh(writer);
  python->Prepare(kMaxFrames, stacks, modules);
  const LoadedObject program = Program();
  bool found = false;
  EachLoadedObject([&](const LoadedObject& object) {
    found = interpreter.LookIn(object, program) == Interpreter::Found::kUsable;
    return !found;
  });
  return found && python->TakeFrom(python->Innermost(writer), writer) != 0 ? 0 : 1;
}

// The frames alone; how many there are.
__attribute__((visibility("default"))) double read_frames(long times) {
  return NsOf(times, [] {
    ReadFrames(interpreter, interpreter.InnermostFrame(true), kMaxFrames, &frames);
    asm volatile("" : : "r"(&frames) : "memory");
  });
}
__attribute__((visibility("default"))) long frame_count() { return static_cast<long>(frames.count); }

// To the number of the stack.
__attribute__((visibility("default"))) double take(long times) {
  return NsOf(times, [] {
    if (python->TakeFrom(python->Innermost(writer), writer) == 0) abort();
  });
}

// Returns whether the present stack is known once it was met.
__attribute__((visibility("default"))) int met_again() {
  const uint64_t frame = python->Innermost(writer);
  const uint32_t stack = python->TakeFrom(frame, writer);
  return stack != 0 && python->Known(frame) == stack;
}

// By frame objects, as a debugger or profiler in the process does; -1 where the interface lacks what it takes.
__attribute__((visibility("default"))) double by_frame_objects(long times) {
  if (PyFrame_GetBack == nullptr || PyFrame_GetLasti == nullptr) return -1;
  return NsOf(times, [] {
    size_t count = 0;
    void* frame = PyEval_GetFrame();
    if (frame != nullptr) Py_IncRef(frame);
    while (frame != nullptr) {
      void* code = PyFrame_GetCode(frame);
      if (count < kMaxFrames) {
        frames.frames[count++] = {reinterpret_cast<uint64_t>(code), static_cast<uint64_t>(PyFrame_GetLasti(frame))};
      }
      Py_DecRef(code);
      void* back = PyFrame_GetBack(frame);
      Py_DecRef(frame);
      frame = back;
    }
  });
}

}  // extern "C"

}  // namespace vramtrack
