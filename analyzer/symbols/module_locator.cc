// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/module_locator.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/base/affix.h"
#include "analyzer/base/input_file.h"
#include "analyzer/symbols/elf_file.h"

namespace vramtrack {
namespace {

// The checksum of a file as .gnu_debuglink carries it; nothing if the file cannot be read.
std::optional<uint32_t> DebugLinkCrcOfFile(const std::string& path) {
  const absl::StatusOr<InputFile> file = InputFile::Open(path);
  if (!file.ok()) return std::nullopt;
  std::vector<unsigned char> buffer(1 << 16);
  uLong crc = 0;
  ssize_t count;
  while ((count = read(file->fd(), buffer.data(), buffer.size())) > 0) {
    crc = crc32(crc, buffer.data(), static_cast<uInt>(count));
  }
  if (count < 0) return std::nullopt;
  return static_cast<uint32_t>(crc);
}

constexpr std::string_view kDeletedMark = " (deleted)";

std::string Join(std::string_view folder, std::string_view path) {
  while (!folder.empty() && folder.back() == '/') folder.remove_suffix(1);
  while (!path.empty() && path.front() == '/') path.remove_prefix(1);
  std::string joined(folder);
  joined.push_back('/');
  joined.append(path);
  return joined;
}

std::string_view FolderOf(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view(".") : path.substr(0, slash + 1);
}

std::string_view NameOf(std::string_view path) { return path.substr(path.rfind('/') + 1); }  // npos + 1 is 0

// The folder of the file itself where `path` is a symbolic link: a debug link is relative to that one.
std::string RealFolderOf(const std::string& path) {
  std::unique_ptr<char, void (*)(void*)> real(realpath(path.c_str(), nullptr), &std::free);
  return std::string(FolderOf(real != nullptr ? real.get() : path.c_str()));
}

void AddUnique(std::vector<std::string>& list, std::string path) {
  for (const std::string& known : list) {
    if (known == path) return;
  }
  list.push_back(std::move(path));
}

// Looks at files in turn and keeps the first that is the right build.
class Finder {
 public:
  Finder(std::string path, const ModuleRef& module, const ModuleSearch& search)
      : path_(std::move(path)),
        deleted_(path_.size() != module.path.size()),
        build_id_(NormalizedBuildId(module.build_id)),
        module_(module),
        search_(search) {}

  LocatedModule Find() {
    FindBinary();
    FindDebugByBuildId();
    if (found_.binary != nullptr && found_.debug == nullptr) FindDebugByLink();
    return std::move(found_);
  }

 private:
  void FindBinary() {
    std::vector<std::string> candidates;
    for (const auto& [from, to] : search_.path_replacements) {
      std::string_view rest(path_);
      if (!StartsWith(rest, from)) continue;
      rest.remove_prefix(from.size());
      // "/opt/a" does not begin "/opt/ab/x".
      if (!rest.empty() && rest.front() != '/' && !from.empty() && from.back() != '/') continue;
      AddUnique(candidates, Join(to, rest));
    }
    for (const std::string& folder : search_.search_paths) {
      AddUnique(candidates, Join(folder, path_));
      AddUnique(candidates, Join(folder, NameOf(path_)));
    }
    // A relative path is about the job's working directory, not about this program's.
    if (StartsWith(path_, "/")) AddUnique(candidates, path_);
    for (const std::string& candidate : candidates) {
      // What now has a deleted file's name is another file, unless a build id says that it is the same.
      if (deleted_ && build_id_.empty() && candidate == path_) continue;
      found_.binary = OpenIfSameBuild(candidate, build_id_);
      if (found_.binary == nullptr) continue;
      if (IsSameText(*found_.binary)) return;
      found_.binary = nullptr;
      NoteRefused(candidate);
    }
  }

  void FindDebugByBuildId() {
    const std::string& id = found_.binary != nullptr ? found_.binary->build_id() : build_id_;
    const std::string relative = BuildIdDebugPath(id);
    if (relative.empty()) return;
    std::vector<std::string> folders = search_.search_paths;
    folders.push_back(search_.debug_root);
    for (const std::string& folder : folders) {
      found_.debug = OpenIfSameBuild(Join(Join(folder, ".build-id"), relative), id);
      if (found_.debug != nullptr) return;
    }
  }

  void FindDebugByLink() {
    const ElfFile& binary = *found_.binary;
    std::string_view name = NameOf(binary.debug_link());
    if (name.empty()) return;
    std::vector<std::string> candidates;
    for (const std::string& folder : {RealFolderOf(binary.path()), std::string(FolderOf(path_))}) {
      AddUnique(candidates, Join(folder, name));
      AddUnique(candidates, Join(Join(folder, ".debug"), name));
      AddUnique(candidates, Join(Join(search_.debug_root, folder), name));
    }
    for (const std::string& folder : search_.search_paths) {
      AddUnique(candidates, Join(folder, name));
      AddUnique(candidates, Join(Join(folder, ".debug"), name));
      AddUnique(candidates, Join(Join(folder, FolderOf(path_)), name));
    }
    for (const std::string& candidate : candidates) {
      if (candidate == binary.path()) continue;
      std::unique_ptr<ElfFile> debug = OpenIfSameBuild(candidate, binary.build_id());
      if (debug == nullptr) continue;
      // The checksum needs the whole file, so it is the means of files without a build id only.
      if (binary.build_id().empty() && DebugLinkCrcOfFile(candidate) != binary.debug_link_crc()) {
        NoteRefused(candidate);
        continue;
      }
      found_.debug = std::move(debug);
      return;
    }
  }

  // A recorded build id came out of the file itself, so a file without one is as wrong as one with another.
  std::unique_ptr<ElfFile> OpenIfSameBuild(const std::string& path, const std::string& build_id) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return nullptr;
    std::unique_ptr<ElfFile> file = ElfFile::Open(path);
    if (file == nullptr) {
      found_.unreadable = true;
      return nullptr;
    }
    if (build_id.empty() || file->build_id() == build_id) return file;
    NoteRefused(path);
    return nullptr;
  }

  // Without a build id. The code may be the same in a file with other lines: where the job had the file, it must not
  // have been written since. A copy elsewhere has another time, and may have been stripped.
  bool IsSameText(const ElfFile& file) const {
    if (!build_id_.empty()) return true;
    if (module_.text_hash != 0 && file.TextHashOfFile() != module_.text_hash) return false;
    struct stat used, status;
    if (module_.modified_ns == 0 || stat(file.path().c_str(), &used) != 0 || stat(path_.c_str(), &status) != 0)
      return true;
    if (used.st_dev != status.st_dev || used.st_ino != status.st_ino) return true;
    const auto modified =
        static_cast<uint64_t>(status.st_mtim.tv_sec) * 1000000000 + static_cast<uint64_t>(status.st_mtim.tv_nsec);
    return static_cast<uint64_t>(status.st_size) == module_.file_bytes && modified == module_.modified_ns;
  }

  void NoteRefused(const std::string& path) {
    if (found_.refused_path.empty()) found_.refused_path = path;
  }

  const std::string path_;
  const bool deleted_;
  const std::string build_id_;
  const ModuleRef& module_;
  const ModuleSearch& search_;
  LocatedModule found_;
};

}  // namespace

std::string_view WithoutDeletedMark(std::string_view path) {
  if (path.size() > kDeletedMark.size() && path.substr(path.size() - kDeletedMark.size()) == kDeletedMark) {
    path.remove_suffix(kDeletedMark.size());
  }
  return path;
}

bool IsFilePath(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  for (std::string_view prefix :
       {"[", "//anon", "/memfd:", "/SYSV", "anon_inode:", "/dev/nvidia", "/dev/zero", "linux-vdso.", "socket:"}) {
    if (StartsWith(path, prefix)) return false;
  }
  return true;
}

LocatedModule LocateModule(const ModuleRef& module, const ModuleSearch& search) {
  std::string_view path = WithoutDeletedMark(module.path);
  if (!IsFilePath(path)) return {};
  return Finder(std::string(path), module, search).Find();
}

}  // namespace vramtrack
