// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/container_limit.h"

#include <cstring>

#include "interpose/python/frame_walk.h"

namespace vramtrack::holders {
namespace {

// dequeobject of CPython's _collectionsmodule.c and lru_cache_object of its _functoolsmodule.c, 3.8 to 3.14.
constexpr uint16_t kDequeLimit = 64, kCacheResults = 72, kCacheLimit = 96;

// A dict of lists is one container with its lists, if it has few.
constexpr int kMostLevels = 3;

// Names end like this when case and underscores are left out.
constexpr const char* kEndings[] = {"capacity", "maxsize",    "maxlen",    "maxentries",
                                    "maxitems", "buffersize", "cachesize", "queuesize"};

uint64_t LimitAt(uint64_t address) {
  const auto limit = Load<int64_t>(address);
  return limit > 0 ? static_cast<uint64_t>(limit) : 0;
}

uint64_t OwnLimit(uint64_t object, const TypeFacts& type, const PythonApi& api) {
  if (type.kind != TypeKind::kContainer) return 0;
  if (std::strcmp(NameOf(type.type), "collections.deque") == 0) return LimitAt(object + kDequeLimit);
  const uint64_t results = ResultsOfCache(object, type, api);
  return results != 0 && Load(object + kCacheResults) == results ? LimitAt(object + kCacheLimit) : 0;
}

bool IsNameOfLimit(uint64_t name, const PythonApi& api) {
  if (!IsText(name)) return false;
  char text[64];
  size_t size = 0;
  const size_t read = TextAsUtf8(api.interpreter->offsets(), name, text, sizeof text);
  for (size_t i = 0; i < read; ++i) {
    const char c = text[i];
    if (c != '_') text[size++] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  for (const char* ending : kEndings) {
    const size_t length = std::strlen(ending);
    if (size >= length && std::memcmp(text + size - length, ending, length) == 0) return true;
  }
  return false;
}

// The smallest limit among attributes that so many entries do not exceed.
class Limits {
 public:
  Limits(uint64_t entries, const PythonApi& api) : entries_(entries), api_(api) {}

  void Add(uint64_t name, uint64_t value) {
    if (value == 0 || (FlagsOf(TypeOf(value)) & kIsIntType) == 0 || !IsNameOfLimit(name, api_)) return;
    int overflow = 0;
    const long long number = api_.int_value(value, &overflow);
    if (overflow != 0 || number <= 0) return;
    const auto limit = static_cast<uint64_t>(number);
    if (limit >= entries_ && (least_ == 0 || limit < least_)) least_ = limit;
  }
  uint64_t least() const { return least_; }

 private:
  uint64_t entries_;
  const PythonApi& api_;
  uint64_t least_ = 0;
};

}  // namespace

uint64_t LimitOf(const Entry& entry, uint64_t entries, ObjectWalk* walk) {
  const PythonApi& api = walk->api();
  if (const uint64_t own = OwnLimit(entry.address, walk->FactsOf(entry.address), api)) return own >= entries ? own : 0;
  Limits limits(entries, api);
  const Entry* at = &entry;
  for (int level = 0; level < kMostLevels && at->parent != 0; ++level) {
    const Entry& owner = walk->reached()[at->parent];
    if (owner.kind != ObjectKind::kPython) return 0;
    const TypeFacts type = walk->FactsOf(owner.address);
    if ((owner.flags & kAttributes) != 0) {
      // Of a module or a class, numbers may be about anything.
      if (owner.step != schema::HOLDER_NONE || owner.parent == 0 || type.kind != TypeKind::kDict) return 0;
      const Entry& instance = walk->reached()[owner.parent];
      if (instance.kind != ObjectKind::kPython || walk->FactsOf(instance.address).kind != TypeKind::kPlain) return 0;
      intptr_t position = 0;
      uint64_t name, value;
      while (api.dict_next(owner.address, &position, &name, &value) != 0) limits.Add(name, value);
      return limits.least();
    }
    if (type.kind == TypeKind::kPlain) {
      const uint64_t* values = InlineAttributes(owner.address, type, api);
      for (uint32_t i = 0; values != nullptr && i < type.inline_names; ++i) {
        limits.Add(Load(type.inline_keys + 16 * i), values[i]);
      }
      return limits.least();
    }
    const bool container =
        type.kind == TypeKind::kDict || type.kind == TypeKind::kList || type.kind == TypeKind::kTuple;
    if (!container || EntriesOf(owner.address, type, api) > kFewEntries) return 0;
    at = &owner;
  }
  return 0;
}

}  // namespace vramtrack::holders
