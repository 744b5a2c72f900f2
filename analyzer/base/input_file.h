// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_INPUT_FILE_H_
#define ANALYZER_BASE_INPUT_FILE_H_

#include <cstdint>
#include <ctime>
#include <string>

#include "absl/status/statusor.h"

namespace vramtrack {

// The one way to open a file that somebody else may have put there: a regular file, opened for reading. A FIFO, a
// socket, a device or a folder is refused and never waited for. Movable. Thread-compatible.
class InputFile {
 public:
  // The error is one line that names the file.
  static absl::StatusOr<InputFile> Open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  int fd() const { return fd_; }
  // When it was opened.
  uint64_t bytes() const { return bytes_; }
  std::time_t modified() const { return modified_; }

  // The file from its current position on. A file with more than `most_bytes` is an error; so is one that cannot be
  // read. The error is one line that names the file.
  absl::StatusOr<std::string> Read(uint64_t most_bytes);
  // The file descriptor, which is the caller's from here on.
  int Release();

 private:
  InputFile(std::string path, int fd, uint64_t bytes, std::time_t modified)
      : path_(std::move(path)), fd_(fd), bytes_(bytes), modified_(modified) {}

  std::string path_;
  int fd_ = -1;
  uint64_t bytes_ = 0;
  std::time_t modified_ = 0;
};

// InputFile::Open and Read.
absl::StatusOr<std::string> ReadInputFile(const std::string& path, uint64_t most_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_INPUT_FILE_H_
