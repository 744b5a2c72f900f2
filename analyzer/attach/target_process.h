// SPDX-License-Identifier: Apache-2.0
//
// A running process from outside: what is mapped where, and where its libraries have their functions. Everything is
// read from memory, so it does not matter whether the files still exist or lie in another container.
#ifndef ANALYZER_ATTACH_TARGET_PROCESS_H_
#define ANALYZER_ATTACH_TARGET_PROCESS_H_

#include <elf.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace vramtrack {

// One line of /proc/PID/maps.
struct Mapping {
  uint64_t begin = 0, end = 0, offset = 0;
  bool executable = false;
  std::string path;  // empty for anonymous memory

  // Returns the last part of the path.
  std::string name() const { return path.substr(path.rfind('/') + 1); }
};

// Thread-compatible.
class TargetProcess {
 public:
  // The error is one line that names the process and says why it cannot be joined: it does not exist or has ended, is a
  // kernel thread, has 32 bits, or has no glibc.
  static absl::StatusOr<TargetProcess> Open(pid_t pid);

  pid_t pid() const { return pid_; }
  // The mappings at the time of the last ReadMappings, by address.
  const std::vector<Mapping>& mappings() const { return mappings_; }
  absl::Status ReadMappings();
  // Returns the mapping that contains `address`, or null.
  const Mapping* Find(uint64_t address) const;
  // Returns whether a mapped file has this name.
  bool HasFile(const std::string& name) const;

  // Reads memory of the process. Returns false if any of it cannot be read.
  bool Read(uint64_t address, void* to, size_t bytes) const;
  bool Write(uint64_t address, const void* from, size_t bytes) const;
  // Returns the zero-terminated text at `address`, at most `most` bytes.
  std::string ReadText(uint64_t address, size_t most) const;

  // Returns the address of an exported function, searched in the mapped files whose names begin with one of
  // `libraries`; 0 if there is none.
  uint64_t FunctionIn(const std::vector<std::string>& libraries, const std::string& function) const;
  // Returns the address of so many bytes of zeros behind the code of a mapped file, in its last page; 0 if there are
  // none. They are executable, and nobody uses them.
  uint64_t SpareCode(size_t bytes) const;
  // Returns whether the program itself exports the function.
  bool ProgramHas(const std::string& function) const;

  // Returns the error that says why the system does not let this process read or trace that one; kAborted if another
  // process traces it.
  absl::Status WhyRefused() const;

  // Returns the value of a line of /proc/PID/status such as "TracerPid"; empty if it is not there.
  std::string Status(const std::string& name) const;
  std::vector<pid_t> Threads() const;
  // Returns whether the process has ended, also if its parent has not asked for its exit code yet.
  bool HasEnded() const;

 private:
  explicit TargetProcess(pid_t pid) : pid_(pid) {}
  uint64_t FunctionAt(uint64_t base, const std::string& function) const;
  // Returns the program headers of the file that is mapped at `base`; empty if there are none.
  std::vector<Elf64_Phdr> SegmentsAt(uint64_t base) const;

  pid_t pid_;
  std::vector<Mapping> mappings_;
};

}  // namespace vramtrack

#endif  // ANALYZER_ATTACH_TARGET_PROCESS_H_
