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

OutputFile::OutputFile(std::string path) : path_(std::move(path)) { error_ = Open(); }

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

int OutputFile::Open() {
  struct stat there;
  const bool exists = stat(path_.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return EISDIR;
  if (exists && !S_ISREG(there.st_mode)) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    return fd_ < 0 ? errno : 0;
  }
  // A link stays one: what it points to is replaced.
  target_ = path_;
  if (char* real = realpath(path_.c_str(), nullptr)) {
    target_ = real;
    free(real);
  }
  temporary_ = target_ + ".XXXXXX";
  fd_ = mkostemp(&temporary_[0], O_CLOEXEC);
  if (fd_ < 0) return errno;
  const mode_t mask = umask(0);
  umask(mask);
  return fchmod(fd_, exists ? there.st_mode & 07777 : 0666 & ~mask) == 0 ? 0 : errno;
}

bool OutputFile::Flush() {
  if (error_ == 0) error_ = WriteAll(fd_, buffer_);
  buffer_.clear();
  return error_ == 0;
}

bool OutputFile::Write(std::string_view bytes) {
  if (error_ != 0) return false;
  buffer_ += bytes;
  return buffer_.size() < kBufferBytes || Flush();
}

int OutputFile::Finish() {
  if (fd_ >= 0) {
    Flush();
    if (close(fd_) != 0 && error_ == 0) error_ = errno;
    fd_ = -1;
    if (!temporary_.empty()) {
      if (error_ == 0 && rename(temporary_.c_str(), target_.c_str()) != 0) error_ = errno;
      if (error_ != 0) unlink(temporary_.c_str());
    }
  }
  return error_ == 0 ? kExitFine : BadInput(path_ + ": cannot be written: " + strerror(error_));
}

OutputStream::OutputStream(const std::string& output) {
  if (IsFile(output)) {
    file_.emplace(output);
  } else {
    standard_.emplace();
  }
}

bool OutputStream::Write(std::string_view bytes) { return file_ ? file_->Write(bytes) : standard_->Write(bytes); }

int OutputStream::Finish() { return file_ ? file_->Finish() : standard_->Finish(); }

bool IsFile(const std::string& output) { return !output.empty() && output != "-"; }

int WriteOutput(const std::string& output, std::string_view text) {
  OutputStream out(output);
  out.Write(text);
  return out.Finish();
}

}  // namespace vramtrack
