// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

constexpr size_t kPieceBytes = 1 << 16;

absl::Status Failed(const std::string& path, int error) {
  const std::string line = absl::StrCat(path, ": ", std::strerror(error));
  return error == ENOENT ? absl::NotFoundError(line) : absl::FailedPreconditionError(line);
}

const char* TypeName(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "a special file";
  }
}

absl::Status CheckType(const std::string& path, const struct stat& info) {
  if (S_ISREG(info.st_mode)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": is ", TypeName(info.st_mode), " (expected a regular file)"));
}

}  // namespace

absl::StatusOr<InputFile> InputFile::Open(const std::string& path) {
  struct stat info;
  // Opening alone can change a device, so it is not even opened.
  if (stat(path.c_str(), &info) != 0) return Failed(path, errno);
  if (absl::Status status = CheckType(path, info); !status.ok()) return status;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return Failed(path, errno);
  InputFile file(path, fd, 0);
  // Another file may have its name by now.
  if (fstat(fd, &info) != 0) return Failed(path, errno);
  if (absl::Status status = CheckType(path, info); !status.ok()) return status;
  file.bytes_ = static_cast<uint64_t>(info.st_size);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), bytes_(other.bytes_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  bytes_ = other.bytes_;
  return *this;
}

InputFile::~InputFile() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<std::string> InputFile::Read(uint64_t most_bytes) {
  const absl::Status too_large =
      absl::InvalidArgumentError(absl::StrCat(path_, ": larger than ", most_bytes, " bytes, the most such a file has"));
  if (bytes_ > most_bytes) return too_large;
  std::string text;
  // One byte more than it had, to see its end; files of /proc tell no size.
  for (size_t room = bytes_ + 1;; room = kPieceBytes) {
    const size_t before = text.size();
    text.resize(before + room);
    size_t got = 0;
    while (got < room) {
      const ssize_t more = read(fd_, &text[before + got], room - got);
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) return Failed(path_, errno);
      if (more == 0) break;
      got += static_cast<size_t>(more);
    }
    text.resize(before + got);
    if (text.size() > most_bytes) return too_large;
    if (got < room) return text;
  }
}

int InputFile::Release() { return std::exchange(fd_, -1); }

absl::StatusOr<std::string> ReadInputFile(const std::string& path, uint64_t most_bytes) {
  absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return file.status();
  return file->Read(most_bytes);
}

}  // namespace vramtrack
