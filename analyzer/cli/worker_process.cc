// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/worker_process.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace vramtrack {
namespace {

bool SendAll(int socket, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    bytes -= static_cast<size_t>(sent);
  }
  return true;
}

bool ReceiveAll(int socket, void* data, size_t bytes) {
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t received = recv(socket, at, bytes, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    at += received;
    bytes -= static_cast<size_t>(received);
  }
  return true;
}

// The number of fields, then the size and the bytes of each.
bool Send(int socket, const WorkerProcess::Fields& fields) {
  const uint64_t count = fields.size();
  if (!SendAll(socket, &count, sizeof(count))) return false;
  for (const std::string& field : fields) {
    const uint64_t size = field.size();
    if (!SendAll(socket, &size, sizeof(size)) || !SendAll(socket, field.data(), size)) return false;
  }
  return true;
}

bool Receive(int socket, WorkerProcess::Fields* fields) {
  uint64_t count = 0;
  if (!ReceiveAll(socket, &count, sizeof(count))) return false;
  fields->resize(count);
  for (std::string& field : *fields) {
    uint64_t size = 0;
    if (!ReceiveAll(socket, &size, sizeof(size))) return false;
    field.resize(size);
    if (!ReceiveAll(socket, field.data(), size)) return false;
  }
  return true;
}

std::string LastLine(int file) {
  constexpr off_t kMost = 4096;
  const off_t size = lseek(file, 0, SEEK_END);
  if (size <= 0) return "";
  std::string text(static_cast<size_t>(size < kMost ? size : kMost), '\0');
  if (pread(file, text.data(), text.size(), size - static_cast<off_t>(text.size())) < 0) return "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t line = text.rfind('\n');
  return std::string(absl::StripPrefix(line == std::string::npos ? text : text.substr(line + 1), "vramtrack: "));
}

}  // namespace

absl::Status WorkerProcess::Start() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return absl::UnavailableError(absl::StrCat("cannot start a process: ", std::strerror(errno)));
  }
  stderr_ = memfd_create("vramtrack-messages", MFD_CLOEXEC);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    close(sockets[0]);
    if (stderr_ >= 0) dup2(stderr_, STDERR_FILENO);
    Serve(sockets[1]);
  }
  const int error = errno;
  close(sockets[1]);
  socket_ = sockets[0];
  if (pid_ > 0) return absl::OkStatus();
  End();
  return absl::UnavailableError(absl::StrCat("cannot start a process: ", std::strerror(error)));
}

void WorkerProcess::Serve(int socket) {
  Fields request;
  while (Receive(socket, &request)) {
    if (!Send(socket, answer_(request))) break;
  }
  _exit(0);
}

absl::StatusOr<WorkerProcess::Fields> WorkerProcess::Ask(const Fields& request) {
  if (pid_ < 0) {
    if (absl::Status starts = Start(); !starts.ok()) return starts;
  }
  Fields answer;
  if (Send(socket_, request) && Receive(socket_, &answer)) return answer;
  const std::string why = End();
  return absl::UnavailableError(why.empty() ? "the process that reads traces has been killed" : why);
}

std::string WorkerProcess::End() {
  if (socket_ >= 0) close(socket_);
  if (pid_ > 0) {
    // It may be in the middle of a request.
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::string why;
  if (stderr_ >= 0) {
    why = LastLine(stderr_);
    close(stderr_);
  }
  pid_ = socket_ = stderr_ = -1;
  return why;
}

}  // namespace vramtrack
