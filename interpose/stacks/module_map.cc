// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/module_map.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <unistd.h>

#include <cstring>

#include "interpose/base/system_call.h"
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
  return h;
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

int ModuleMap::OnCounters(dl_phdr_info* info, size_t, void* self) {
  auto* map = static_cast<ModuleMap*>(self);
  map->new_adds_ = info->dlpi_adds;
  map->new_subs_ = info->dlpi_subs;
  return 1;  // the first object has them already
}

ModuleMap::Known* ModuleMap::Find(uint64_t base, uint64_t identity) {
  for (uint32_t at = *BucketOf(identity); at != 0; at = known_[at - 1].next) {
    Known& module = known_[at - 1];
    if (module.identity == identity && module.base == base) return &module;
  }
  return nullptr;
}

void ModuleMap::Add(const Known& module) {
  uint32_t* bucket = BucketOf(module.identity);
  known_[count_] = module;
  known_[count_].next = *bucket;
  *bucket = static_cast<uint32_t>(++count_);
}

int ModuleMap::OnModule(dl_phdr_info* info, size_t, void* self) {
  auto* map = static_cast<ModuleMap*>(self);
  // The loader adds at the end: as long as nothing was unloaded, what was there before is still there.
  if (map->place_++ < map->listed_ && info->dlpi_subs == map->subs_) return 0;
  const uint64_t identity = IdentityOf(*info);
  if (Known* known = map->Find(info->dlpi_addr, identity)) {
    known->seen = map->reading_;
    return 0;
  }
  if (map->count_ == kMaxModules) return 0;
  map->Define(*info, map->next_id_);
  map->Add({info->dlpi_addr, identity, map->next_id_++, map->reading_, 0});
  return 0;
}

// Says of those that the last reading has not met that they are gone.
void ModuleMap::Sweep() {
  const size_t before = count_;
  count_ = 0;
  std::memset(buckets_, 0, sizeof buckets_);
  for (size_t i = 0; i < before; ++i) {
    const Known module = known_[i];
    if (module.seen == reading_) {
      Add(module);
    } else {
      DefineGone(module.id);
    }
  }
}

// What is loaded while it is traced is at its path. What was there before may have been replaced since, which only
// matters without a build id.
const char* ModuleMap::PathOf(const dl_phdr_info& info, bool has_build_id, char* buffer, size_t capacity) {
  const char* const name = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  const bool was_there = count_ == 0 || adds_ == 0;
  if (name[0] == '/' && (has_build_id || !was_there)) return name;
  if (mapped_.PathAt(AddressOfText(info), buffer, capacity)) return buffer;
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
    FileStamp stamp;
    if (path[0] == '/' && StampOf(path, &stamp)) {
      out.Varint(f::file_bytes, stamp.bytes);
      out.Varint(f::modified_ns, stamp.modified_ns);
    }
  }
  out.Fixed64(f::load_bias, info.dlpi_addr);
  WriteSegments(info, f::start, &out, [&](const ElfW(Phdr) & s) { return info.dlpi_addr + s.p_vaddr; });
  WriteSegments(info, f::end, &out, [&](const ElfW(Phdr) & s) { return info.dlpi_addr + s.p_vaddr + s.p_memsz; });
  out.End(message);
  if (!out.overflowed()) lane_->DefineEncoded(buffer, out.size());
}

void ModuleMap::DefineGone(uint32_t id) {
  uint8_t buffer[64];
  MessageWriter out(buffer, sizeof buffer);
  uint8_t* message = out.Begin(schema::definitions_field::modules_gone);
  out.Varint(schema::moduleGone_field::id, id);
  out.Varint(schema::moduleGone_field::epoch, epoch());
  out.End(message);
  lane_->DefineEncoded(buffer, out.size());
}

bool ModuleMap::Refresh(Lane* lane) {
  if (!lock_.TryLock()) return false;
  unloads_.fetch_and(~kUnloaded, std::memory_order_acq_rel);
  dl_iterate_phdr(OnCounters, this);
  // Read before the list: a library that comes in between is met at the next reading.
  const uint64_t adds = new_adds_, subs = new_subs_;
  const bool loaded = adds != adds_;
  if (adds != adds_ || subs != subs_ || count_ == 0) {
    lane_ = lane;
    const bool unloaded = subs != subs_;
    if (unloaded) epoch_.fetch_add(1, std::memory_order_acq_rel);
    if (unloaded) listed_ = 0;
    ++reading_;
    place_ = 0;
    dl_iterate_phdr(OnModule, this);
    listed_ = place_;
    if (unloaded) Sweep();
    mapped_.Forget();
    adds_ = adds;
    subs_ = subs;
    generation_.fetch_add(1, std::memory_order_acq_rel);
  }
  lock_.Unlock();
  if (loaded) {
    if (void (*told)() = on_loaded.load(std::memory_order_acquire)) told();
  }
  return true;
}

}  // namespace vramtrack
