// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attach/target_process.h"

#include <dirent.h>
#include <elf.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

constexpr uint64_t kFilePageBytes = 4096;
constexpr size_t kMostSegments = 64, kMostDynamic = 512, kMostChain = 1 << 20;

std::string NameOf(pid_t pid) { return absl::StrCat("process ", pid); }

// Why a process without glibc cannot be joined.
std::string WhyNoLibc(const TargetProcess& process) {
  for (const Mapping& mapping : process.mappings()) {
    if (absl::StartsWith(mapping.name(), "ld-musl")) return "its C library is musl (expected glibc)";
  }
  return "is statically linked, so no library can be loaded into it";
}

}  // namespace

absl::StatusOr<TargetProcess> TargetProcess::Open(pid_t pid) {
  const std::string name = NameOf(pid);
  if (kill(pid, 0) != 0 && errno == ESRCH) return absl::NotFoundError(name + ": no such process");
  TargetProcess process(pid);
  if (process.HasEnded()) return absl::NotFoundError(name + ": has ended");
  if (absl::StartsWith(process.Status("State"), "Z")) {
    return absl::FailedPreconditionError(name + ": its first thread has ended, so its memory cannot be looked at");
  }
  if (process.Status("Tgid") != absl::StrCat(pid)) {
    return absl::InvalidArgumentError(
        absl::StrCat(pid, ": is a thread of process ", process.Status("Tgid"), " (expected the number of a process)"));
  }
  if (absl::Status read = process.ReadMappings(); !read.ok()) return read;
  if (process.mappings_.empty()) {
    return absl::NotFoundError(name + (process.HasEnded() ? ": has ended" : ": is a kernel thread"));
  }
  unsigned char head[EI_NIDENT] = {};
  std::ifstream(absl::StrCat("/proc/", pid, "/exe"), std::ios::binary).read(reinterpret_cast<char*>(head), sizeof head);
  if (std::memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == ELFCLASS32) {
    return absl::FailedPreconditionError(name + ": is a 32-bit program (expected 64 bits)");
  }
  if (process.FunctionIn({"libc.so.6", "libc-2."}, "syscall") == 0) {
    return absl::FailedPreconditionError(absl::StrCat(name, ": ", WhyNoLibc(process)));
  }
  return process;
}

absl::Status TargetProcess::WhyRefused() const {
  const auto refused = [this](const std::string& what) {
    return absl::PermissionDeniedError(absl::StrCat(NameOf(pid_), ": ", what));
  };
  const std::string tracer = Status("TracerPid");
  if (!tracer.empty() && tracer != "0") {
    std::string name;
    std::getline(std::ifstream(absl::StrCat("/proc/", tracer, "/comm")), name);
    return absl::AbortedError(absl::StrCat(NameOf(pid_), ": is traced by process ", tracer,
                                           name.empty() ? "" : " (" + name + ")",
                                           ", and a process can have one tracer (end that one first)"));
  }
  struct stat info;
  if (geteuid() != 0 && stat(absl::StrCat("/proc/", pid_).c_str(), &info) == 0 && info.st_uid != geteuid()) {
    return refused(absl::StrCat("belongs to another user (uid ", info.st_uid, "; attach as that user or as root)"));
  }
  int scope = 0;
  if (std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope && scope > 0) {
    return refused(absl::StrCat("kernel.yama.ptrace_scope is ", scope, ", which forbids to attach (",
                                scope == 3 ? "start the program with vramtrack run --dormant"
                                           : "attach as root, or start the program with vramtrack run --dormant",
                                ")"));
  }
  return refused(
      "permission denied; needs CAP_SYS_PTRACE (the process may have more rights, or a security policy or the "
      "container's settings forbid to trace it)");
}

absl::Status TargetProcess::ReadMappings() {
  std::ifstream file(absl::StrCat("/proc/", pid_, "/maps"));
  if (!file) {
    if (errno == ENOENT) return absl::NotFoundError(NameOf(pid_) + ": has ended");
    return WhyRefused();
  }
  mappings_.clear();
  errno = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    Mapping mapping;
    char dash;
    std::string permissions, device, inode;
    if (!(fields >> std::hex >> mapping.begin >> dash >> mapping.end >> permissions >> mapping.offset >> device >>
          inode)) {
      continue;
    }
    mapping.executable = permissions.size() > 2 && permissions[2] == 'x';
    std::getline(fields >> std::ws, mapping.path);
    mappings_.push_back(std::move(mapping));
  }
  if (mappings_.empty() && errno == EACCES) {
    return WhyRefused();
  }
  return absl::OkStatus();
}

const Mapping* TargetProcess::Find(uint64_t address) const {
  auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                [](uint64_t at, const Mapping& mapping) { return at < mapping.begin; });
  if (after == mappings_.begin()) return nullptr;
  --after;
  return address < after->end ? &*after : nullptr;
}

bool TargetProcess::HasFile(const std::string& name) const {
  return std::any_of(mappings_.begin(), mappings_.end(),
                     [&](const Mapping& mapping) { return mapping.name() == name; });
}

bool TargetProcess::Read(uint64_t address, void* to, size_t bytes) const {
  const iovec local = {to, bytes}, remote = {reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool TargetProcess::Write(uint64_t address, const void* from, size_t bytes) const {
  const iovec local = {const_cast<void*>(from), bytes}, remote = {reinterpret_cast<void*>(address), bytes};
  return process_vm_writev(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

std::string TargetProcess::ReadText(uint64_t address, size_t most) const {
  std::string text;
  for (char c; text.size() < most && Read(address + text.size(), &c, 1) && c != '\0';) text += c;
  return text;
}

uint64_t TargetProcess::FunctionIn(const std::vector<std::string>& libraries, const std::string& function) const {
  for (const std::string& library : libraries) {
    for (const Mapping& mapping : mappings_) {
      if (mapping.offset != 0 || !absl::StartsWith(mapping.name(), library)) continue;
      if (const uint64_t found = FunctionAt(mapping.begin, function)) return found;
    }
  }
  return 0;
}

bool TargetProcess::ProgramHas(const std::string& function) const {
  char path[PATH_MAX];
  const ssize_t bytes = readlink(absl::StrCat("/proc/", pid_, "/exe").c_str(), path, sizeof path);
  const std::string program(path, bytes > 0 ? static_cast<size_t>(bytes) : 0);
  for (const Mapping& mapping : mappings_) {
    if (mapping.offset == 0 && mapping.path == program) return FunctionAt(mapping.begin, function) != 0;
  }
  return false;
}

std::vector<Elf64_Phdr> TargetProcess::SegmentsAt(uint64_t base) const {
  Elf64_Ehdr header;
  if (!Read(base, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phnum > kMostSegments) {
    return {};
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!Read(base + header.e_phoff, segments.data(), segments.size() * sizeof segments[0])) return {};
  return segments;
}

namespace {

// What is added to the addresses of a file that is mapped at `base`.
uint64_t BiasOf(const std::vector<Elf64_Phdr>& segments, uint64_t base) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD) return base - segment.p_vaddr / kFilePageBytes * kFilePageBytes;
  }
  return base;
}

}  // namespace

uint64_t TargetProcess::SpareCode(size_t bytes) const {
  constexpr uint64_t kAligned = 64;
  for (const Mapping& mapping : mappings_) {
    if (mapping.offset != 0 || mapping.path[0] != '/') continue;
    const std::vector<Elf64_Phdr> segments = SegmentsAt(mapping.begin);
    for (const Elf64_Phdr& segment : segments) {
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      const uint64_t code_end = BiasOf(segments, mapping.begin) + segment.p_vaddr + segment.p_memsz;
      const uint64_t page_end = (code_end + kFilePageBytes - 1) / kFilePageBytes * kFilePageBytes;
      const Mapping* const code = Find(page_end - 1);
      if (code == nullptr || !code->executable || code->path != mapping.path) continue;
      std::vector<uint8_t> spare(page_end - code_end);
      if (!Read(code_end, spare.data(), spare.size())) continue;
      for (uint64_t at = (code_end + kAligned - 1) / kAligned * kAligned; at + bytes <= page_end; at += kAligned) {
        const auto first = spare.begin() + static_cast<std::ptrdiff_t>(at - code_end);
        if (std::all_of(first, first + static_cast<std::ptrdiff_t>(bytes), [](uint8_t byte) { return byte == 0; })) {
          return at;
        }
      }
    }
  }
  return 0;
}

// Looks the name up in the hash table of the library whose file is mapped at `base`.
uint64_t TargetProcess::FunctionAt(uint64_t base, const std::string& function) const {
  const std::vector<Elf64_Phdr> segments = SegmentsAt(base);
  const uint64_t bias = BiasOf(segments, base);
  uint64_t dynamic = 0;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_DYNAMIC) dynamic = segment.p_vaddr;
  }
  if (dynamic == 0) return 0;
  uint64_t strings = 0, symbols = 0, hash = 0;
  Elf64_Dyn entry;
  for (size_t i = 0; i < kMostDynamic && Read(bias + dynamic + i * sizeof entry, &entry, sizeof entry); ++i) {
    if (entry.d_tag == DT_NULL) break;
    // The loader writes run-time addresses into the table.
    const uint64_t at = entry.d_un.d_ptr < bias ? bias + entry.d_un.d_ptr : entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRTAB) strings = at;
    if (entry.d_tag == DT_SYMTAB) symbols = at;
    if (entry.d_tag == DT_GNU_HASH) hash = at;
  }
  uint32_t sizes[4];  // buckets, first symbol, words of the Bloom filter, its shift
  if (strings == 0 || symbols == 0 || hash == 0 || !Read(hash, sizes, sizeof sizes) || sizes[0] == 0) return 0;
  uint32_t wanted = 5381;
  for (const char c : function) wanted = wanted * 33 + static_cast<unsigned char>(c);
  const uint64_t buckets = hash + sizeof sizes + uint64_t{8} * sizes[2], chains = buckets + uint64_t{4} * sizes[0];
  uint32_t index = 0;
  if (!Read(buckets + uint64_t{4} * (wanted % sizes[0]), &index, sizeof index) || index < sizes[1]) return 0;
  for (size_t steps = 0; steps < kMostChain; ++steps, ++index) {
    uint32_t chained;
    if (!Read(chains + uint64_t{4} * (index - sizes[1]), &chained, sizeof chained)) return 0;
    Elf64_Sym symbol;
    if ((chained | 1) == (wanted | 1) && Read(symbols + index * sizeof symbol, &symbol, sizeof symbol) &&
        symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
        ReadText(strings + symbol.st_name, function.size() + 1) == function) {
      return bias + symbol.st_value;
    }
    if ((chained & 1) != 0) return 0;
  }
  return 0;
}

bool TargetProcess::HasEnded() const {
  const std::string state = Status("State");
  return state.empty() || (absl::StartsWith(state, "Z") && Threads().size() <= 1);
}

std::string TargetProcess::Status(const std::string& name) const {
  std::ifstream file(absl::StrCat("/proc/", pid_, "/status"));
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, name + ":")) {
      return std::string(absl::StripAsciiWhitespace(line.substr(name.size() + 1)));
    }
  }
  return "";
}

std::vector<pid_t> TargetProcess::Threads() const {
  std::vector<pid_t> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(absl::StrCat("/proc/", pid_, "/task").c_str()), closedir);
  for (const dirent* entry; folder != nullptr && (entry = readdir(folder.get())) != nullptr;) {
    pid_t thread;
    if (absl::SimpleAtoi(entry->d_name, &thread)) threads.push_back(thread);
  }
  return threads;
}

}  // namespace vramtrack
