// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/output.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "analyzer/cli/exit_code.h"
#include "analyzer/cli/say.h"

namespace vramtrack {
namespace {

constexpr size_t kBufferBytes = 1 << 16;

// 0, or errno.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(written);
  }
  return 0;
}

int CannotWrite(const std::string& path, int error) {
  return BadInput(path + ": cannot be written: " + strerror(error));
}

int WriteInPlace(const std::string& path, std::string_view text) {
  int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return CannotWrite(path, errno);
  int error = WriteAll(fd, text);
  if (close(fd) != 0 && error == 0) error = errno;
  return error == 0 ? kExitFine : CannotWrite(path, error);
}

}  // namespace

StandardOutput::StandardOutput() { signal(SIGPIPE, SIG_IGN); }

bool StandardOutput::Write(std::string_view text) {
  if (error_ != 0) return false;
  buffer_ += text;
  return buffer_.size() < kBufferBytes || Flush();
}

bool StandardOutput::Flush() {
  if (error_ == 0) error_ = WriteAll(STDOUT_FILENO, buffer_);
  buffer_.clear();
  return error_ == 0;
}

int StandardOutput::Finish() {
  if (Flush() || error_ == EPIPE) return kExitFine;
  return BadInput(std::string("standard output: cannot be written: ") + strerror(error_));
}

int WriteFileAtomically(const std::string& path, std::string_view text) {
  struct stat there;
  bool exists = stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    return S_ISDIR(there.st_mode) ? CannotWrite(path, EISDIR) : WriteInPlace(path, text);
  }
  // A link stays one: what it points to is replaced.
  std::string target = path;
  if (char* real = realpath(path.c_str(), nullptr)) {
    target = real;
    free(real);
  }
  std::string temporary = target + ".XXXXXX";
  int fd = mkostemp(&temporary[0], O_CLOEXEC);
  if (fd < 0) return CannotWrite(path, errno);
  mode_t mask = umask(0);
  umask(mask);
  int error = fchmod(fd, exists ? there.st_mode & 07777 : 0666 & ~mask) == 0 ? WriteAll(fd, text) : errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return kExitFine;
  unlink(temporary.c_str());
  return CannotWrite(path, error);
}

bool IsFile(const std::string& output) { return !output.empty() && output != "-"; }

int WriteOutput(const std::string& output, std::string_view text) {
  if (IsFile(output)) return WriteFileAtomically(output, text);
  StandardOutput out;
  out.Write(text);
  return out.Finish();
}

}  // namespace vramtrack
