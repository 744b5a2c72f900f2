// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_MAPPED_FILE_H_
#define ANALYZER_INGEST_MAPPED_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "analyzer/base/mapped_range.h"

namespace vramtrack {

// A file of any size, mapped read-only. Movable; pointers into the bytes stay valid. Thread-safe.
class MappedFile {
 public:
  // Maps the file. An error is one line that names the file.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

  // Lets the system drop the pages that are completely in `part` from memory. Reading them again loads them again.
  static void Release(std::string_view part);

 private:
  std::string_view bytes_;
  MappedRange range_;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_MAPPED_FILE_H_
