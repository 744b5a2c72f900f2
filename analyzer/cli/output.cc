// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/output.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"
#include "analyzer/ingest/trace_choice.h"

namespace vramtrack {
namespace {

constexpr size_t kBufferBytes = 1 << 16;
constexpr int kMostUnfinished = 64;  // more than the tables of an export
constexpr int kMostLinks = 40;       // as the kernel has it

// Paths of temporary files.
std::atomic<const char*> unfinished[kMostUnfinished];

// Whether `path` is a link that somebody else made in a folder where everybody can, as in /tmp: he may mean a file of
// ours. The kernel's rule (fs.protected_symlinks), which is not in force everywhere.
bool LeadsAstray(std::string path) {
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat link, folder;
    if (lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return false;
    const size_t name = path.rfind('/') + 1;  // or 0
    const std::string parent = name == 0 ? "." : path.substr(0, name);
    if (stat(parent.c_str(), &folder) != 0) return false;
    const bool open_to_all = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
    if (open_to_all && link.st_uid != geteuid() && link.st_uid != folder.st_uid) return true;
    char to[4096];
    const ssize_t bytes = readlink(path.c_str(), to, sizeof to);
    if (bytes <= 0) return false;
    const std::string target(to, static_cast<size_t>(bytes));
    path = target[0] == '/' || name == 0 ? target : path.substr(0, name) + target;
  }
  return true;
}

bool IsSame(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// `paths`, with what matches a pattern instead of it. A path that exists is not a pattern.
std::vector<std::string> Expanded(const std::vector<std::string>& paths) {
  std::vector<std::string> expanded;
  for (const std::string& path : paths) {
    struct stat info;
    glob_t matches = {};
    if (stat(path.c_str(), &info) != 0 && glob(path.c_str(), GLOB_NOMAGIC, nullptr, &matches) == 0) {
      expanded.insert(expanded.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    } else {
      expanded.push_back(path);
    }
    globfree(&matches);
  }
  return expanded;
}

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

OutputStream::OutputStream(const std::string& output, Links links) : path_(IsFile(output) ? output : "") {
  if (path_.empty()) {
    signal(SIGPIPE, SIG_IGN);
    fd_ = STDOUT_FILENO;
  } else {
    error_ = Open(links);
  }
}

OutputStream::~OutputStream() {
  if (fd_ < 0 || path_.empty()) return;
  close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  Forget();
}

int OutputStream::Open(Links links) {
  struct stat there;
  const bool follow = links == Links::kFollow;
  if (follow && LeadsAstray(path_)) return EACCES;
  const bool exists = (follow ? stat : lstat)(path_.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return EISDIR;
  if (exists && !S_ISREG(there.st_mode) && !S_ISLNK(there.st_mode)) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return fd_ < 0 ? errno : 0;
  }
  // A link stays one: what it points to is replaced.
  target_ = path_;
  if (char* real = follow ? realpath(path_.c_str(), nullptr) : nullptr) {
    target_ = real;
    free(real);
  }
  temporary_ = target_ + ".XXXXXX";
  fd_ = mkostemp(&temporary_[0], O_CLOEXEC);
  if (fd_ < 0) return errno;
  for (int i = 0; unfinished_ < 0 && i < kMostUnfinished; ++i) {
    const char* none = nullptr;
    if (unfinished[i].compare_exchange_strong(none, temporary_.c_str())) unfinished_ = i;
  }
  const mode_t mask = umask(0);
  umask(mask);
  return fchmod(fd_, exists && S_ISREG(there.st_mode) ? there.st_mode & 07777 : 0666 & ~mask) == 0 ? 0 : errno;
}

void OutputStream::Forget() {
  if (unfinished_ >= 0) unfinished[unfinished_] = nullptr;
  unfinished_ = -1;
}

void RemoveUnfinishedOutput() {
  for (const std::atomic<const char*>& temporary : unfinished) {
    if (const char* path = temporary.load()) unlink(path);
  }
}

bool OutputStream::Flush() {
  if (error_ == 0) error_ = WriteAll(fd_, buffer_);
  buffer_.clear();
  return error_ == 0;
}

bool OutputStream::Write(std::string_view bytes) {
  if (error_ != 0) return false;
  buffer_ += bytes;
  return buffer_.size() < kBufferBytes || Flush();
}

int OutputStream::Finish() {
  Flush();
  if (path_.empty()) {
    if (error_ == 0 || error_ == EPIPE) return kExitFine;
    return BadInput(std::string("cannot write standard output: ") + strerror(error_));
  }
  if (fd_ >= 0) {
    if (close(fd_) != 0 && error_ == 0) error_ = errno;
    fd_ = -1;
    if (!temporary_.empty()) {
      if (error_ == 0 && rename(temporary_.c_str(), target_.c_str()) != 0) error_ = errno;
      if (error_ != 0) unlink(temporary_.c_str());
      Forget();
    }
  }
  return error_ == 0 ? kExitFine : BadInput(absl::StrCat("cannot write '", path_, "': ", strerror(error_)));
}

bool IsFile(const std::string& output) { return !output.empty() && output != "-"; }

void CheckOutput(const std::string& output, const std::vector<std::string>& inputs) {
  struct stat out, in;
  if (!IsFile(output) || stat(output.c_str(), &out) != 0 || !S_ISREG(out.st_mode)) return;
  const auto check = [&](const std::string& input) {
    if (stat(input.c_str(), &in) != 0 || !IsSame(in, out)) return;
    throw CommandFailure{absl::StrCat("-o ", output, ": is the input ", input, " (use another name)")};
  };
  for (const std::string& input : inputs) {
    check(input);
    if (stat(input.c_str(), &in) != 0 || !S_ISDIR(in.st_mode)) continue;
    std::error_code error;
    for (std::filesystem::directory_iterator file(input, error), end; !error && file != end; file.increment(error)) {
      if (IsTraceName(file->path().string()) || file->path().extension() == ".vts") check(file->path().string());
    }
  }
}

int WriteOutput(const std::string& output, std::string_view text) {
  OutputStream out(output);
  out.Write(text);
  return out.Finish();
}

void Say(std::string_view line) {
  std::string text = "vramtrack: " + Printable(line) + "\n";
  // Ignore the error: stderr was the last channel.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

int BadInput(std::string_view line) {
  Say(line);
  return kExitBadInput;
}

void OrFail(const absl::Status& status) {
  if (!status.ok()) throw CommandFailure{std::string(status.message())};
}

TraceChoice ChooseAndSay(const std::vector<std::string>& paths, bool all_runs) {
  TraceChoice all;
  std::set<std::string> chosen;
  const auto leave_out = [&all](const std::string& line) {
    if (line.empty()) return;
    Say(line);
    absl::StrAppend(&all.left_out, all.left_out.empty() ? "" : "; ", line);
  };
  const std::vector<std::string> expanded = Expanded(paths);
  for (const std::string& path : expanded) {
    const TraceChoice choice = OrFail(ChooseTraces(path, all_runs));
    chosen.insert(choice.paths.begin(), choice.paths.end());
    leave_out(choice.left_out);
  }
  all.paths.assign(chosen.begin(), chosen.end());
  // Of a folder they are left out already.
  if (expanded.size() > 1) leave_out(LeaveOutEarlierRecordings(&all.paths));
  return all;
}

}  // namespace vramtrack
