// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/preload.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "analyzer/base/input_file.h"

namespace vramtrack {
namespace {

constexpr int kMostInterpreters = 4;  // as the kernel has it: a script's interpreter may be a script
constexpr size_t kHeadBytes = 4096;
constexpr char kDefaultPath[] = "/bin:/usr/bin";

bool IsExecutableFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

// Up to kHeadBytes from the beginning of the file.
std::string Head(const std::string& path) {
  std::string head(kHeadBytes, '\0');
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return "";
  ssize_t bytes = read(file->fd(), &head[0], head.size());
  head.resize(bytes > 0 ? bytes : 0);
  return head;
}

template <typename T>
bool Copy(const std::string& from, uint64_t offset, T* to) {
  if (offset > from.size() || from.size() - offset < sizeof *to) return false;
  std::memcpy(to, from.data() + offset, sizeof *to);
  return true;
}

std::string WhyNotElf(const std::string& head) {
  if (head.size() < EI_NIDENT) return "";
  if (head[EI_CLASS] == ELFCLASS32) return "is a 32-bit program";
  Elf64_Ehdr header;
  if (head[EI_DATA] != ELFDATA2LSB || !Copy(head, 0, &header)) return "";
  bool dynamic = false;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    // Past the head: not what a linker makes, so nothing is claimed.
    if (!Copy(head, header.e_phoff + i * sizeof segment, &segment)) return "";
    if (segment.p_type == PT_INTERP) return "";
    dynamic = dynamic || segment.p_type == PT_DYNAMIC;
  }
  // ld.so itself and static-pie programs have PT_DYNAMIC and no interpreter; nobody traces the former.
  return dynamic || header.e_type == ET_EXEC ? "is statically linked" : "";
}

// The program that runs the script that begins with `head`; for "/usr/bin/env NAME" that is NAME.
std::string Interpreter(const std::string& head) {
  std::string line = head.substr(2, head.find('\n') - 2);
  std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  if (words.empty()) return "";
  if (words[0].substr(words[0].rfind('/') + 1) != "env") return words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i][0] != '-' && words[i].find('=') == std::string::npos) return FindProgram(words[i]);
  }
  return words[0];
}

// A program that gains rights by being started: the loader ignores LD_PRELOAD then.
bool GainsRights(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return false;
  return ((info.st_mode & S_ISUID) != 0 && info.st_uid != getuid()) ||
         ((info.st_mode & S_ISGID) != 0 && info.st_gid != getgid());
}

}  // namespace

std::string OwnProgram() {
  char path[4096];
  ssize_t bytes = readlink("/proc/self/exe", path, sizeof path);
  return bytes > 0 ? std::string(path, bytes) : "";
}

std::string FindProgram(const std::string& command) {
  if (command.find('/') != std::string::npos) return IsExecutableFile(command) ? command : "";
  const char* path = getenv("PATH");
  for (const auto& folder : absl::StrSplit(path == nullptr ? kDefaultPath : path, ':')) {
    std::string candidate = folder.empty() ? command : absl::StrCat(folder, "/", command);
    if (IsExecutableFile(candidate)) return candidate;
  }
  return "";
}

std::string WhyNotTraceable(const std::string& path) {
  std::string program = path, of;
  // The loader is linked statically, and preloads for the program that it is given.
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.compare(0, 4, "ld-l") == 0 || name.compare(0, 4, "ld-m") == 0 || name.compare(0, 5, "ld.so") == 0) return "";
  for (int depth = 0; depth < kMostInterpreters && !program.empty(); ++depth) {
    std::string head = Head(program);
    if (head.compare(0, 2, "#!") == 0) {
      program = Interpreter(head);
      of = absl::StrCat("is a script whose interpreter ", program, " ");
      continue;
    }
    std::string why;
    if (head.compare(0, SELFMAG, ELFMAG) == 0) why = WhyNotElf(head);
    if (why.empty() && GainsRights(program)) why = "is a setuid or setgid program";
    return why.empty() ? "" : of + why;
  }
  return "";
}

namespace {

// The loader splits LD_PRELOAD at both.
constexpr char kSeparators[] = ": ";

std::string Folder(const std::string& path) { return path.substr(0, path.rfind('/')); }

// `path` without links and "..", empty if there is no such file.
std::string RealPath(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return "";
  std::string copy = real;
  free(real);
  return copy;
}

}  // namespace

absl::StatusOr<std::string> FindPreloadLibrary(const std::string& executable) {
  std::string folder = Folder(executable);
  std::vector<std::string> places = {
      absl::StrCat(Folder(folder), "/lib/vramtrack/", kLibrary),                                   // an installation
      absl::StrCat(folder, "/", kLibrary), absl::StrCat(Folder(folder), "/interpose/", kLibrary),  // a build
  };
  const char* variable = getenv("VRAMTRACK_LIBRARY");
  bool named = variable != nullptr && variable[0] != '\0';
  if (named) places = {variable};
  for (const std::string& place : places) {
    std::string path = RealPath(place);
    if (path.empty() || access(path.c_str(), R_OK) != 0) continue;
    if (path.find_first_of(kSeparators) != std::string::npos) {
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": cannot be preloaded, because LD_PRELOAD separates paths by spaces and colons (move it)"));
    }
    return path;
  }
  if (named) {
    return absl::NotFoundError(
        absl::StrCat("VRAMTRACK_LIBRARY: cannot read '", variable, "' (expected the path of ", kLibrary, ")"));
  }
  return absl::NotFoundError(absl::StrCat(kLibrary, ": not found in ", absl::StrJoin(places, ", "),
                                          " (build it, or set VRAMTRACK_LIBRARY to its path)"));
}

std::string AddToPreload(const std::string& library, const std::string& current) {
  for (const auto& entry : absl::StrSplit(current, absl::ByAnyChar(kSeparators), absl::SkipEmpty())) {
    std::string path(entry);
    if (path.substr(path.rfind('/') + 1) == kLibrary) return current;
  }
  return current.empty() ? library : absl::StrCat(library, ":", current);
}

}  // namespace vramtrack
