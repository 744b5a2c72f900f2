// SPDX-License-Identifier: Apache-2.0
//
// frozen_and_thawed WAY: does to its own files and mappings what checkpoint and restore (CRIU) do to a process. Three
// threads allocate; the process is stopped; a forked child continues it; every regular file is opened again at its
// number and every shared mapping is made again at its address; the threads allocate again.
//
//   same                the files are the same
//   copied              a copy has taken each file's name, as on another node: descriptors and mappings are of the copy
//   copied_read_only    the same, with descriptors that cannot be written to
//   copied_missing      the same, without the descriptors
//   copied_descriptors  descriptors are of the copy, mappings of the old file: nothing may be written into the copy
//   read_only, missing  the files are the same, the descriptors are not
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/hazards/programs/device.h"

namespace {

constexpr int kWorkers = 2, kPairs = 40000;

struct Descriptor {
  int number, flags;
  off_t offset;
  std::string path;
};

struct Mapping {
  uintptr_t address = 0, bytes = 0;
  off_t offset = 0;
  int protection = 0;
  bool kept_from_children = false;  // MADV_DONTFORK
  std::string path;
};

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::abort();
}

bool IsFile(const std::string& path) {
  struct stat status;
  return path[0] == '/' && lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::vector<Descriptor> OpenFiles() {
  std::vector<Descriptor> files;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) Fail("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    char path[4096];
    const ssize_t length = readlink(("/proc/self/fd/" + std::string(entry->d_name)).c_str(), path, sizeof path);
    if (number <= STDERR_FILENO || length <= 0) continue;
    const std::string name(path, static_cast<size_t>(length));
    if (!IsFile(name)) continue;
    const int flags = fcntl(number, F_GETFL) | (fcntl(number, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0);
    files.push_back({number, flags & (O_ACCMODE | O_APPEND | O_CLOEXEC), lseek(number, 0, SEEK_CUR), name});
  }
  closedir(folder);
  return files;
}

std::vector<Mapping> SharedMappings() {
  std::vector<Mapping> mappings;
  Mapping mapping;
  bool wanted = false;
  std::ifstream smaps("/proc/self/smaps");
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::string range, permissions, device;
    unsigned long inode;
    if (line.rfind("VmFlags:", 0) == 0) {
      mapping.kept_from_children = (line + " ").find(" dc ") != std::string::npos;
      if (wanted) mappings.push_back(mapping);
      wanted = false;
    } else if (words >> range >> permissions && permissions.size() == 4 && range.find('-') != std::string::npos) {
      mapping = {};
      mapping.address = std::stoul(range, nullptr, 16);
      mapping.bytes = std::stoul(range.substr(range.find('-') + 1), nullptr, 16) - mapping.address;
      words >> std::hex >> mapping.offset >> device >> std::dec >> inode >> mapping.path;
      mapping.protection = PROT_READ | PROT_WRITE;
      wanted = permissions[1] == 'w' && permissions[3] == 's' && !mapping.path.empty() && IsFile(mapping.path);
    }
  }
  return mappings;
}

// In the child: no memory from malloc, no CUDA.
void CopyOver(const char* path) {
  char copy[4096], buffer[65536];
  std::snprintf(copy, sizeof copy, "%s.image", path);
  const int from = open(path, O_RDONLY), to = open(copy, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (from < 0 || to < 0) _exit(1);
  ssize_t got;
  while ((got = read(from, buffer, sizeof buffer)) > 0) {
    if (write(to, buffer, static_cast<size_t>(got)) != got) _exit(2);
  }
  if (got < 0 || rename(copy, path) != 0) _exit(3);
}

void WaitUntilStopped(pid_t process) {
  char path[64], stat[512];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  for (;;) {
    const int fd = open(path, O_RDONLY);
    const ssize_t got = fd >= 0 ? read(fd, stat, sizeof stat - 1) : -1;
    close(fd);
    if (got <= 0 || getppid() != process) _exit(4);
    stat[got] = '\0';
    const char* name_end = std::strrchr(stat, ')');
    if (name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'T') return;
    sched_yield();
  }
}

void Freeze(const std::vector<std::string>& to_copy) {
  const pid_t self = getpid(), child = fork();
  if (child == 0) {
    WaitUntilStopped(self);
    for (const std::string& path : to_copy) CopyOver(path.c_str());
    kill(self, SIGCONT);
    _exit(0);
  }
  kill(self, SIGSTOP);
  int status = -1;
  if (waitpid(child, &status, 0) != child || status != 0) {
    std::printf("the child: %d\n", status);
    std::abort();
  }
}

void OpenAgain(const Descriptor& file, bool read_only) {
  close(file.number);
  const int flags = read_only ? (file.flags & ~O_ACCMODE) | O_RDONLY : file.flags;
  const int fd = open(file.path.c_str(), flags);
  if (fd < 0 || (fd != file.number && dup3(fd, file.number, flags & O_CLOEXEC) < 0)) Fail(file.path.c_str());
  if (fd != file.number) close(fd);
  if (lseek(file.number, file.offset, SEEK_SET) != file.offset) Fail("lseek");
}

void MapAgain(const Mapping& mapping) {
  void* at = reinterpret_cast<void*>(mapping.address);
  const int fd = open(mapping.path.c_str(), O_RDWR);
  if (fd < 0 || mmap(at, mapping.bytes, mapping.protection, MAP_SHARED | MAP_FIXED, fd, mapping.offset) != at) {
    Fail(mapping.path.c_str());
  }
  close(fd);
  if (mapping.kept_from_children) madvise(at, mapping.bytes, MADV_DONTFORK);
}

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

int main(int, char** argv) {
  const std::string way = argv[1];
  const bool copied = way.rfind("copied", 0) == 0;

  // A file of the program's own, open and mapped like a trace.
  std::string own = std::string(getenv("TEST_TMPDIR") != nullptr ? getenv("TEST_TMPDIR") : "/tmp") + "/own.XXXXXX";
  const int own_fd = mkstemp(&own[0]);
  if (own_fd < 0 || ftruncate(own_fd, 4096) != 0) Fail("own file");
  auto* mapped = static_cast<char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, own_fd, 0));
  if (mapped == MAP_FAILED) Fail("own mapping");
  std::strcpy(mapped, "before");

  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, kWorkers + 1);
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&] {
      Pairs(kPairs);
      pthread_barrier_wait(&barrier);
      pthread_barrier_wait(&barrier);
      Pairs(kPairs);
    });
  }
  Pairs(kPairs);
  pthread_barrier_wait(&barrier);

  const std::vector<Descriptor> files = OpenFiles();
  const std::vector<Mapping> mappings = SharedMappings();
  std::vector<std::string> paths;
  for (const Descriptor& file : files) paths.push_back(file.path);
  for (const Mapping& mapping : mappings) paths.push_back(mapping.path);
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());

  Freeze(copied ? paths : std::vector<std::string>());
  for (const Descriptor& file : files) {
    if (way.find("missing") != std::string::npos) {
      close(file.number);
    } else {
      OpenAgain(file, way.find("read_only") != std::string::npos);
    }
  }
  if (way != "copied_descriptors") {
    for (const Mapping& mapping : mappings) MapAgain(mapping);
  }
  std::vector<std::string> copies;
  if (way == "copied_descriptors") {
    for (const std::string& path : paths) copies.push_back(Contents(path));
  }

  std::strcpy(mapped, "after");
  pthread_barrier_wait(&barrier);
  Pairs(kPairs);
  for (std::thread& worker : workers) worker.join();

  int written = 0;
  for (size_t i = 0; i < copies.size(); ++i) written += Contents(paths[i]) != copies[i];
  std::printf("%s; own file: %s; copies written to: %d\n", way.c_str(), Contents(own).c_str(), written);
  unlink(own.c_str());
  return 0;
}
