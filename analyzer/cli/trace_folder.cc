// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/trace_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "analyzer/ingest/trace_choice.h"

namespace vramtrack {
namespace {

constexpr int kMostNames = 100;
constexpr size_t kProbeBytes = 1 << 16;  // less than the smallest trace that tells anything

absl::Status Error(const std::string& path, const std::string& what, int error) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", what, ": ", strerror(error)));
}

std::string NameByTime(int attempt) {
  time_t now = time(nullptr);
  tm local = {};
  localtime_r(&now, &local);
  char name[64];
  strftime(name, sizeof name, "vramtrack.%Y%m%d-%H%M%S", &local);
  return attempt == 0 ? name : absl::StrCat(name, ".", attempt);
}

std::vector<std::string> Traces(const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> traces = ListTraces(folder);
  return traces.ok() ? *std::move(traces) : std::vector<std::string>();
}

}  // namespace

absl::Status TraceFolder::Open(const std::string& path) {
  path_ = path.empty() ? NameByTime(0) : path;
  made_ = mkdir(path_.c_str(), 0777) == 0;
  for (int i = 1; !made_ && errno == EEXIST && path.empty() && i < kMostNames; ++i) {
    path_ = NameByTime(i);
    made_ = mkdir(path_.c_str(), 0777) == 0;
  }
  if (!made_ && errno != EEXIST) return Error(path_, "cannot create the folder", errno);
  struct stat info;
  if (stat(path_.c_str(), &info) != 0) return Error(path_, "cannot use the folder", errno);
  if (!S_ISDIR(info.st_mode)) return Error(path_, "cannot use it as a folder", ENOTDIR);

  absl::Status writable = TryToWrite();
  if (!writable.ok()) {
    RemoveIfEmpty();
    return writable;
  }
  char* real = realpath(path_.c_str(), nullptr);
  if (real == nullptr) return Error(path_, "cannot use the folder", errno);
  absolute_path_ = real;
  free(real);
  for (std::string& trace : Traces(path_)) before_.insert(std::move(trace));
  return absl::OkStatus();
}

absl::Status TraceFolder::TryToWrite() const {
  // A name that is not there yet, and that nobody can foresee.
  std::string probe = absl::StrCat(path_, "/.vramtrack.XXXXXX");
  const int fd = mkostemp(&probe[0], O_CLOEXEC);
  if (fd < 0) return Error(path_, "cannot write to the folder", errno);
  int error = posix_fallocate(fd, 0, kProbeBytes);
  close(fd);
  unlink(probe.c_str());
  // Not every file system can allocate ahead; the recorder deals with that.
  if (error != 0 && error != EOPNOTSUPP && error != EINVAL) return Error(path_, "cannot write to the folder", error);
  return absl::OkStatus();
}

std::string TraceFolder::OutputPattern() const {
  return absl::StrCat(absl::StrReplaceAll(absolute_path_, {{"%", "%%"}}), "/vramtrack.%h.%p.vtrace");
}

std::vector<std::string> TraceFolder::NewTraces() const {
  std::vector<std::string> traces;
  for (std::string& trace : Traces(path_)) {
    if (before_.count(trace) == 0) traces.push_back(std::move(trace));
  }
  return traces;
}

std::vector<std::string> TraceFolder::AllTraces() const { return Traces(path_); }

void TraceFolder::RemoveIfEmpty() const {
  if (made_) rmdir(path_.c_str());
}

}  // namespace vramtrack
