// SPDX-License-Identifier: Apache-2.0
//
// The first page of a trace that a process is writing. Its counters are how this process speaks with that one.
#ifndef ANALYZER_CLI_MAPPED_HEADER_H_
#define ANALYZER_CLI_MAPPED_HEADER_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "analyzer/base/mapped_range.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// Movable. Its functions are as thread-safe as atomics are.
class MappedHeader {
 public:
  // The error is one line that names the file; for a file that is not a trace it is of kInvalidArgument.
  static absl::StatusOr<MappedHeader> Open(const std::string& path);

  MappedHeader(MappedHeader&& other) noexcept;
  MappedHeader& operator=(MappedHeader&&) = delete;
  MappedHeader(const MappedHeader&) = delete;
  MappedHeader& operator=(const MappedHeader&) = delete;
  ~MappedHeader();

  std::atomic<uint64_t>& Counter(schema::Counter which) const;

  // Returns whether the trace is complete, because the process has ended or recording was stopped.
  bool finished() const { return Counter(schema::COUNTER_FINISHED).load() != 0; }

 private:
  MappedHeader(void* page, const std::string& path);

  void* page_;
  MappedRange range_;
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_MAPPED_HEADER_H_
