// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/trace_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>

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

// Of processes that were killed while they were dormant, files without content may be left.
std::vector<std::string> Traces(const std::string& folder) {
  absl::StatusOr<std::vector<std::string>> listed = ListTraces(folder);
  std::vector<std::string> traces;
  for (std::string& path : listed.ok() ? *listed : traces) {
    if (HasBegun(path)) traces.push_back(std::move(path));
  }
  return traces;
}

}  // namespace

TraceFolder::~TraceFolder() {
  for (const int fd : {root_, parent_, folder_}) {
    if (fd >= 0) close(fd);
  }
}

int TraceFolder::OpenPath(const std::string& path) const {
  constexpr int kFolder = O_PATH | O_DIRECTORY | O_CLOEXEC;
  if (root_ < 0) return open(path.c_str(), kFolder);
  // openat2 with RESOLVE_IN_ROOT, by their numbers: old headers lack them. Linux has them since 5.6.
  constexpr long kOpenAt2 = 437;
  const struct { uint64_t flags, mode, resolve; } how = {kFolder, 0, 0x10};
  return static_cast<int>(syscall(kOpenAt2, root_, path.c_str(), &how, sizeof how));
}

bool TraceFolder::Make(const std::string& path) {
  std::string bare = path;
  while (bare.size() > 1 && bare.back() == '/') bare.pop_back();
  const size_t slash = bare.rfind('/');
  name_ = slash == std::string::npos ? bare : bare.substr(slash + 1);
  const std::string parent = slash == std::string::npos ? "." : bare.substr(0, slash + 1);
  if (parent_ >= 0) close(parent_);
  parent_ = OpenPath(parent);
  if (parent_ < 0) return false;
  return mkdirat(parent_, name_.c_str(), 0777) == 0;
}

absl::Status TraceFolder::Open(const std::string& path, const std::string& root) {
  if (!root.empty() && (root_ = open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
    return Error(root, "cannot use the folder", errno);
  }
  std::string name = path.empty() ? NameByTime(0) : path;
  made_ = Make(name);
  for (int i = 1; !made_ && errno == EEXIST && path.empty() && i < kMostNames; ++i) {
    name = NameByTime(i);
    made_ = Make(name);
  }
  path_ = root + name;
  if (!made_ && errno != EEXIST) return Error(path_, "cannot create the folder", errno);
  folder_ = made_ ? openat(parent_, name_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : OpenPath(name);
  if (folder_ < 0) {
    return Error(path_, errno == ENOTDIR ? "cannot use it as a folder" : "cannot use the folder", errno);
  }
  absl::Status writable = TryToWrite();
  if (!writable.ok()) {
    RemoveIfEmpty();
    return writable;
  }
  if (!root.empty()) return absl::OkStatus();  // by its path one would not find it from here
  char* real = realpath(path_.c_str(), nullptr);
  if (real == nullptr) return Error(path_, "cannot use the folder", errno);
  absolute_path_ = real;
  free(real);
  if (const auto listed = ListTraces(path_); listed.ok()) before_.insert(listed->begin(), listed->end());
  return absl::OkStatus();
}

bool TraceFolder::GiveTo(uid_t user, gid_t group) const {
  return fchownat(folder_, "", user, group, AT_EMPTY_PATH) == 0;
}

absl::Status TraceFolder::TryToWrite() const {
  // A name that is not there yet, and that nobody can foresee.
  std::random_device random;
  const std::string probe = absl::StrCat(".vramtrack.", absl::Hex(random()), absl::Hex(random()));
  const int fd = openat(folder_, probe.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return Error(path_, "cannot write to the folder", errno);
  int error = posix_fallocate(fd, 0, kProbeBytes);
  close(fd);
  unlinkat(folder_, probe.c_str(), 0);
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
  if (made_) unlinkat(parent_, name_.c_str(), AT_REMOVEDIR);
}

}  // namespace vramtrack
