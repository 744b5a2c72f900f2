// SPDX-License-Identifier: Apache-2.0
//
// A job of one process, event by event, for tests: it keeps the clock, gives out addresses, and defines stacks as
// they are needed. What it does not know of can be added to its trace().
#ifndef PROTO_TESTING_JOB_BUILDER_H_
#define PROTO_TESTING_JOB_BUILDER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "proto/testing/trace_builder.h"

namespace vramtrack {

// What a job has allocated.
struct JobObject {
  AllocationId id = {};
  schema::Kind kind = schema::KIND_NONE;
  uint32_t device = 0;
  uint64_t address = 0, bytes = 0;
};

// Memory that is mapped into a range of addresses.
struct JobMapping {
  JobObject memory, mapping;
};

// A line of a function of a Python program. Lines of one function are to be of the same hundred, 1 to 100 and so on.
struct PythonLine {
  const char* function;
  uint32_t line;
  const char* file = "/job/train.py";
  uint32_t instruction = 0;  // the first or the second one of the line
};

struct BuiltProcess {
  std::vector<std::string> command = {"./job"};
  int rank = -1;  // none
  uint32_t pid = 4711;
  std::string program = "/nowhere/job";  // the native code of stacks that are numbers
  std::vector<std::pair<std::string, std::string>> environment = {};
};

// Thread-compatible. A stack is a number. One that was not defined before is of one frame, at that line of the native
// program, so to speak: kCode + 256 times the number. With 0 there is none.
class JobBuilder {
 public:
  static constexpr uint64_t kCode = 0x400000;
  static constexpr uint64_t kPageBytes = 2 << 20;  // addresses that are given out are multiples

  // `ns_per_event`: by how much each event is later than the one before.
  explicit JobBuilder(const BuiltProcess& process = {}, uint64_t ns_per_event = 1);

  // The size of a device; 0 if the trace does not know it.
  void Device(uint64_t bytes, uint32_t index = 0) { trace_.DefineDevice(thread_, index, "Simulated GPU", bytes); }

  uint64_t now() const { return now_; }
  void Pass(uint64_t ns) { now_ += ns; }

  // Leaves out so many addresses.
  void Gap(uint64_t bytes) { next_address_ += bytes; }

  // What follows is of this thread, or this device. Both are 0 at first.
  void OfThread(uint32_t thread) { thread_ = thread; }
  void OnDevice(uint32_t device) { device_ = device; }

  // Defines a stack of native frames, or of Python and native ones. Innermost first.
  void DefineNative(uint32_t stack, const std::vector<uint64_t>& frames);
  void DefinePython(uint32_t stack, const std::vector<PythonLine>& frames, uint32_t native = 0);
  // Defines a stack of the autograd engine, at a node that was made by `forward`.
  void DefineGraph(uint32_t stack, schema::GraphNode node, const std::vector<PythonLine>& forward);
  // Returns the number of such a stack, which is defined if it is new.
  uint32_t Python(const std::vector<PythonLine>& frames, uint32_t native = 0);

  // At the next free address.
  JobObject Allocate(uint32_t stack, uint64_t bytes, schema::Kind kind = schema::DEVICE);
  // `origin`: of a mapping the handle of its memory, of an allocation of a pool the pool; otherwise the stream.
  JobObject AllocateAt(uint32_t stack, uint64_t address, uint64_t bytes, schema::Kind kind = schema::DEVICE,
                       uint64_t origin = 0);
  // A block of a framework's allocator.
  JobObject Block(uint32_t stack, uint64_t bytes) { return Allocate(stack, bytes, schema::FRAMEWORK_BLOCK); }
  JobObject BlockAt(uint32_t stack, uint64_t address, uint64_t bytes) {
    return AllocateAt(stack, address, bytes, schema::FRAMEWORK_BLOCK);
  }
  // The free is an event of the present thread.
  void Free(const JobObject& object);

  // Has new memory mapped at an address of a range that was allocated as ADDRESS_RANGE.
  JobMapping Map(uint32_t stack, uint64_t address, uint64_t bytes);

  // Steps are numbered from 0 on, or `number` is the next one's.
  void EndStep(double value = 0) { trace_.Step(thread_, Tick(), step_++, value); }
  void NumberSteps(uint64_t number) { step_ = number; }
  uint64_t step() const { return step_; }

  // What a program or its libraries say of themselves; schema::MarkKind explains its values.
  void Mark(schema::MarkKind kind, uint32_t stack, uint64_t name = 0, uint64_t number = 0) {
    Event(schema::MARK, static_cast<schema::Kind>(kind), stack, {name, number});
  }
  // An allocation that failed because memory was short.
  void Fail(uint32_t stack, uint64_t bytes, schema::Kind kind = schema::DEVICE);
  // Any other event; schema::Operation explains its values.
  void Event(schema::Operation operation, schema::Kind kind, uint32_t stack, const std::vector<uint64_t>& values);

  TraceBuilder& trace() { return trace_; }
  // The file as a process that ended normally leaves it, and as a killed one does.
  std::string Finish() { return trace_.Finish(); }
  std::string Kill() { return trace_.Kill(); }

 private:
  uint64_t Tick() { return now_ += ns_per_event_; }
  uint32_t Known(uint32_t stack);
  uint32_t PythonPart(const std::vector<PythonLine>& lines);
  uint32_t CodeOf(const PythonLine& line);

  TraceBuilder trace_;
  const uint64_t ns_per_event_;
  uint64_t now_ = 1000, next_address_ = uint64_t{1} << 40, next_handle_ = 0x5000, step_ = 0;
  uint32_t thread_ = 0, device_ = 0, next_stack_ = 1000000;
  std::set<uint32_t> known_ = {0};
  std::map<std::tuple<std::string, std::string, uint32_t>, uint32_t> codes_;  // by file, function and first line
  std::map<std::vector<uint32_t>, uint32_t> python_;                          // by native stack, codes and lines
};

}  // namespace vramtrack

#endif  // PROTO_TESTING_JOB_BUILDER_H_
