// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_MAPPED_FILE_H_
#define ANALYZER_INGEST_MAPPED_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "analyzer/base/mapped_range.h"

namespace vramtrack {

// A file of any size, mapped read-only. Movable; the bytes stay where they are. Thread-safe.
class MappedFile {
 public:
  // The error is one line that names the file.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

  // The pages that lie wholly in `part` need not stay in memory; reading them again brings them back.
  static void Release(std::string_view part);

 private:
  std::string_view bytes_;
  MappedRange range_;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_MAPPED_FILE_H_
