// SPDX-License-Identifier: Apache-2.0
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY

// In 3.10's format: a hundred lines of two instructions each, of four bytes together.
constexpr uint32_t kLines = 100, kBytesPerLine = 4;
std::string LineTable() {
  std::string lines = {kBytesPerLine, 0};
  for (uint32_t line = 1; line < kLines; ++line) lines += {kBytesPerLine, 1};
  return lines;
}

uint32_t FirstLine(const PythonLine& of) { return (of.line - 1) / kLines * kLines + 1; }

}  // namespace

JobBuilder::JobBuilder(const BuiltProcess& process, uint64_t ns_per_event) : ns_per_event_(ns_per_event) {
  trace_.DefineProcess(0, process.pid, process.command, process.rank, process.environment);
  trace_.DefineModule(0, 1, process.program, kCode, kCode, kCode + 0x10000000);
}

void JobBuilder::DefineNative(uint32_t stack, const std::vector<uint64_t>& frames) {
  trace_.DefineStack(thread_, stack, frames);
  known_.insert(stack);
}

void JobBuilder::DefinePython(uint32_t stack, const std::vector<PythonLine>& lines, uint32_t native) {
  trace_.DefineJoinedStack(thread_, stack, Known(native), PythonPart(lines));
  known_.insert(stack);
}

void JobBuilder::DefineGraph(uint32_t stack, schema::GraphNode node, const std::vector<PythonLine>& forward) {
  trace_.DefineJoinedStack(thread_, stack, 0, 0, PythonPart(forward), node);
  known_.insert(stack);
}

uint32_t JobBuilder::PythonPart(const std::vector<PythonLine>& lines) {
  if (lines.empty()) return 0;
  std::vector<std::pair<uint32_t, uint32_t>> frames;
  for (const PythonLine& at : lines)
    frames.emplace_back(CodeOf(at), kBytesPerLine * (at.line - FirstLine(at)) + 2 * at.instruction);
  trace_.DefinePythonStack(thread_, next_stack_, frames);
  return next_stack_++;
}

uint32_t JobBuilder::Python(const std::vector<PythonLine>& lines, uint32_t native) {
  std::vector<uint32_t> key = {native};
  for (const PythonLine& at : lines) key.insert(key.end(), {CodeOf(at), at.line, at.instruction});
  const auto [found, is_new] = python_.try_emplace(key, next_stack_);
  if (is_new) DefinePython(next_stack_++, lines, native);
  return found->second;
}

uint32_t JobBuilder::CodeOf(const PythonLine& line) {
  const uint32_t first = FirstLine(line);
  const auto [found, is_new] =
      codes_.try_emplace({line.file, line.function, first}, static_cast<uint32_t>(codes_.size() + 1));
  if (is_new) {
    trace_.DefineCode(thread_, found->second, line.function, line.file, first, schema::LINES_LINETABLE, LineTable());
  }
  return found->second;
}

uint32_t JobBuilder::Known(uint32_t stack) {
  if (known_.count(stack) == 0) DefineNative(stack, {kCode + 0x100 * uint64_t{stack}});
  return stack;
}

JobObject JobBuilder::Allocate(uint32_t stack, uint64_t bytes, schema::Kind kind) {
  const uint64_t address = next_address_;
  next_address_ += (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  return AllocateAt(stack, address, bytes, kind);
}

JobObject JobBuilder::AllocateAt(uint32_t stack, uint64_t address, uint64_t bytes, schema::Kind kind, uint64_t origin) {
  const AllocationId id = trace_.Allocate(thread_, Tick(), kind, device_, Known(stack), address, bytes, origin);
  return {id, kind, device_, address, bytes};
}

void JobBuilder::Free(const JobObject& object) { trace_.Free(thread_, Tick(), object.kind, object.device, object.id); }

JobMapping JobBuilder::Map(uint32_t stack, uint64_t address, uint64_t bytes) {
  const uint64_t handle = next_handle_ += 0x100;
  const JobObject memory = AllocateAt(stack, handle, bytes, schema::PHYSICAL);
  return {memory, AllocateAt(stack, address, bytes, schema::MAPPING, handle)};
}

void JobBuilder::Fail(uint32_t stack, uint64_t bytes, schema::Kind kind) {
  Event(schema::FAIL, kind, stack, {kOutOfMemory, bytes});
}

void JobBuilder::Event(schema::Operation operation, schema::Kind kind, uint32_t stack,
                       const std::vector<uint64_t>& values) {
  trace_.Event(thread_, Tick(), operation, kind, device_, Known(stack), values);
}

}  // namespace vramtrack
