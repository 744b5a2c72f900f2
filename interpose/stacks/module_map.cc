// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/module_map.h"

#include <elf.h>
#include <limits.h>
#include <unistd.h>

#include <cstring>

#include "interpose/base/system_call.h"
#include "interpose/loader/loaded_object.h"
#include "proto/message_writer.h"
#include "proto/text_hash.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxBuildIdBytes = 64;
constexpr size_t kMaxSegments = 8;

struct BuildId {
  const char* bytes = nullptr;
  size_t size = 0;
};

// The build id of a module, in its own memory; empty if it has none.
BuildId BuildIdOf(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr);
    const char* end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* name = at + sizeof note;
      const char* data = name + ((note.n_namesz + 3) & ~3u);
      const char* next = data + ((note.n_descsz + 3) & ~3u);
      if (next > end || next <= at) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0 &&
          note.n_descsz <= kMaxBuildIdBytes) {
        return {data, note.n_descsz};
      }
      at = next;
    }
  }
  return {};
}

uint64_t IdentityOf(const dl_phdr_info& info) {
  uint64_t h = 14695981039346656037u;
  const auto mix = [&h](const void* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) h = (h ^ static_cast<const unsigned char*>(bytes)[i]) * 1099511628211u;
  };
  if (info.dlpi_name != nullptr) mix(info.dlpi_name, std::strlen(info.dlpi_name));
  mix(&info.dlpi_addr, sizeof info.dlpi_addr);
  // The same file may have been replaced on disk and loaded again at the same place.
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    mix(&segment.p_memsz, sizeof segment.p_memsz);
    const bool has_header = segment.p_type == PT_LOAD && segment.p_offset == 0 && (segment.p_flags & PF_R) != 0;
    if (has_header && segment.p_filesz >= sizeof(ElfW(Ehdr))) {
      mix(reinterpret_cast<const void*>(info.dlpi_addr + segment.p_vaddr), sizeof(ElfW(Ehdr)));
    }
  }
  const BuildId id = BuildIdOf(info);
  mix(id.bytes, id.size);
  return h | 1;
}

uint64_t HashOfText(const dl_phdr_info& info) {
  TextHash hash;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    hash.AddSegment(segment.p_vaddr, segment.p_filesz, segment.p_memsz, segment.p_flags);
    if ((segment.p_flags & (PF_R | PF_W | PF_X)) != (PF_R | PF_X)) continue;
    hash.AddText(reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr), segment.p_filesz);
  }
  return hash.value();
}

uint64_t AddressOfText(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) return info.dlpi_addr + segment.p_vaddr;
  }
  return 0;
}

template <typename Value>
void WriteSegments(const dl_phdr_info& info, uint32_t field, MessageWriter* out, Value value) {
  uint64_t values[kMaxSegments];
  size_t count = 0;
  for (int i = 0; i < info.dlpi_phnum && count < kMaxSegments; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) values[count++] = value(segment);
  }
  out->Bytes(field, values, 8 * count);
}

}  // namespace

std::atomic<void (*)()> ModuleMap::on_loaded{nullptr};

void ModuleMap::ReadModule(const dl_phdr_info& info) {
  // The loader adds at the end: as long as nothing was unloaded, what was there before is still there.
  if (place_++ < listed_ && info.dlpi_subs == subs_) return;
  Known* known = known_.Insert(IdentityOf(info));
  if (known == nullptr) return;
  if (known->seen == 0) {
    known->id = next_id_++;
    Define(info, known->id);
  }
  known->seen = reading_;
}

// Says of those that the last reading has not met that they are gone.
void ModuleMap::Sweep() {
  known_.Rebuild([this](uint64_t identity, const Known* module) {
    if (module->seen != reading_) return DefineGone(module->id);
    if (Known* kept = known_.Insert(identity)) *kept = *module;
  });
}

// Which file is mapped where a module's code is, as the kernel says it. The loader knows a library by the name that it
// was opened with, which may be relative to a working directory of the past; and a program that was started through the
// loader is not the process' executable.
bool ModuleMap::MappedPathOf(const dl_phdr_info& info, char* path, size_t capacity) {
  if (maps_.empty() && !maps_.Read()) return false;
  const uint64_t text = AddressOfText(info);
  bool found = false;
  maps_.Each([&](const MemoryMaps::Range& range) {
    if (text >= range.end) return true;
    found = text >= range.begin && range.path_bytes != 0 && range.path_bytes < capacity;
    if (!found) return false;
    std::memcpy(path, range.path, range.path_bytes);
    path[range.path_bytes] = '\0';
    return false;
  });
  return found;
}

// What is loaded while it is traced is at its path. What was there before may have been replaced since, which only
// matters without a build id.
const char* ModuleMap::PathOf(const dl_phdr_info& info, bool has_build_id, char* buffer, size_t capacity) {
  const char* const name = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  const bool was_there = adds_ == 0;
  if (name[0] == '/' && (has_build_id || !was_there)) return name;
  if (MappedPathOf(info, buffer, capacity)) return buffer;
  if (*name != '\0') return name;
  const ssize_t length = readlink("/proc/self/exe", buffer, capacity - 1);
  buffer[length > 0 ? length : 0] = '\0';
  return buffer;
}

void ModuleMap::Define(const dl_phdr_info& info, uint32_t id) {
  namespace f = schema::module_field;
  // With the lock held, and not on what may be a small stack.
  static char own[PATH_MAX];
  static uint8_t buffer[PATH_MAX + 512];
  MessageWriter out(buffer, sizeof buffer);
  uint8_t* message = out.Begin(schema::definitions_field::modules);
  out.Varint(f::id, id);
  out.Varint(f::first_epoch, epoch());
  const BuildId build_id = BuildIdOf(info);
  const bool has_build_id = build_id.size != 0;
  if (has_build_id) out.Bytes(f::build_id, build_id.bytes, build_id.size);
  const char* const path = PathOf(info, has_build_id, own, sizeof own);
  out.String(f::path, path);
  if (!has_build_id) {
    out.Fixed64(f::text_hash, HashOfText(info));
    FileStatus file;
    if (path[0] == '/' && StatusOf(path, /*follow_links=*/true, &file) && file.regular) {
      out.Varint(f::file_bytes, file.bytes);
      out.Varint(f::modified_ns, file.modified_ns);
    }
  }
  out.Fixed64(f::load_bias, info.dlpi_addr);
  WriteSegments(info, f::start, &out, [&](const ElfW(Phdr) & s) { return info.dlpi_addr + s.p_vaddr; });
  WriteSegments(info, f::end, &out, [&](const ElfW(Phdr) & s) { return info.dlpi_addr + s.p_vaddr + s.p_memsz; });
  out.End(message);
  if (!out.overflowed()) writer_->DefineEncoded(buffer, out.size());
}

void ModuleMap::DefineGone(uint32_t id) {
  writer_->Define<64>(schema::definitions_field::modules_gone, [&](MessageWriter* out) {
    out->Varint(schema::moduleGone_field::id, id);
    out->Varint(schema::moduleGone_field::epoch, epoch());
  });
}

bool ModuleMap::Refresh(EventWriter* writer) {
  if (!lock_.TryLock()) return false;
  unloads_.fetch_and(~kUnloaded, std::memory_order_acq_rel);
  // Read before the list: a library that comes in between is met at the next reading.
  uint64_t adds = 0, subs = 0;
  EachLoaderEntry([&](const dl_phdr_info& info) {
    adds = info.dlpi_adds;
    subs = info.dlpi_subs;
    return false;
  });
  const bool loaded = adds != adds_;
  if (adds != adds_ || subs != subs_ || known_.size() == 0) {
    writer_ = writer;
    const bool unloaded = subs != subs_;
    if (unloaded) epoch_.fetch_add(1, std::memory_order_acq_rel);
    if (unloaded) listed_ = 0;
    ++reading_;
    place_ = 0;
    EachLoaderEntry([this](const dl_phdr_info& info) {
      ReadModule(info);
      return true;
    });
    listed_ = place_;
    if (unloaded) Sweep();
    maps_.Free();
    adds_ = adds;
    subs_ = subs;
    generation_.fetch_add(1, std::memory_order_acq_rel);
  }
  lock_.Unlock();
  if (loaded) {
    if (void (*notify)() = on_loaded.load(std::memory_order_acquire)) notify();
  }
  return true;
}

}  // namespace vramtrack
