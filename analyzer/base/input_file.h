// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_INPUT_FILE_H_
#define ANALYZER_BASE_INPUT_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace vramtrack {

// A regular file that is open for reading. Use this for every file that somebody else may have created. A FIFO, a
// socket, a device or a folder is refused without waiting for it. Movable. Thread-compatible.
class InputFile {
 public:
  // Opens the file. An error is one line that names the file.
  static absl::StatusOr<InputFile> Open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  int fd() const { return fd_; }
  // The size when the file was opened.
  uint64_t bytes() const { return bytes_; }

  // Reads the file from its current position to the end. More than `most_bytes` bytes and read failures are errors. An
  // error is one line that names the file.
  absl::StatusOr<std::string> Read(uint64_t most_bytes);
  // Returns the file descriptor. The caller owns it from here on.
  int Release();

 private:
  InputFile(std::string path, int fd, uint64_t bytes) : path_(std::move(path)), fd_(fd), bytes_(bytes) {}

  std::string path_;
  int fd_ = -1;
  uint64_t bytes_ = 0;
};

// Opens and reads a file, see InputFile::Open and InputFile::Read.
absl::StatusOr<std::string> ReadInputFile(const std::string& path, uint64_t most_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_INPUT_FILE_H_
