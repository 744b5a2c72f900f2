// SPDX-License-Identifier: Apache-2.0
#include "interpose/holders/cpp_objects.h"

#include <atomic>
#include <cstring>

namespace vramtrack::holders {
namespace {

std::atomic<const void*> recorded_deleters[4];

bool IsRecorded(uint64_t deleter) {
  if (deleter == 0) return false;
  for (const std::atomic<const void*>& one : recorded_deleters) {
    if (reinterpret_cast<uint64_t>(one.load(std::memory_order_relaxed)) == deleter) return true;
  }
  return false;
}

constexpr size_t kNameBytes = 512;
constexpr int kMaxBases = 6;

bool StartsWith(const char* text, const char* start) { return std::strncmp(text, start, std::strlen(start)) == 0; }
bool Has(const char* text, const char* part) { return std::strstr(text, part) != nullptr; }

// The name in a type's information, 0-terminated in `to`.
bool NameAt(uint64_t info, const ProcessMemory& memory, char* to, uint64_t* address) {
  uint64_t words[2];
  if (!memory.IsFile(info) || info % 8 != 0 || memory.Read(info, words, sizeof words) != sizeof words) return false;
  *address = words[1];
  if (!memory.IsFile(words[1])) return false;
  const size_t got = memory.Read(words[1], to, kNameBytes - 1);
  to[got] = '\0';
  return got > 0;
}

// Whether a class is torch::autograd::Node or derives from it, each class from one other.
bool IsNode(uint64_t info, const ProcessMemory& memory) {
  char name[kNameBytes];
  uint64_t address;
  for (int i = 0; i < kMaxBases && NameAt(info, memory, name, &address); ++i) {
    if (std::strcmp(name, "N5torch8autograd4NodeE") == 0) return true;
    if (memory.Read(info + 16, &info, sizeof info) != sizeof info) return false;
  }
  return false;
}

}  // namespace

CppClass CppClasses::Classify(const char* name, uint64_t info, const ProcessMemory& memory) {
  if (Has(name, "UndefinedTensorImpl")) return CppClass::kOther;
  if (Has(name, "TensorImpl")) return CppClass::kTensor;
  if (StartsWith(name, "N3c1011StorageImplE")) return CppClass::kStorage;
  if (StartsWith(name, "N5torch8autograd14AccumulateGradE")) return CppClass::kAccumulateGrad;
  if (StartsWith(name, "N5torch8autograd6PyNodeE")) return CppClass::kPythonNode;
  if (StartsWith(name, "N5torch8autograd20PySavedVariableHooksE")) return CppClass::kPythonSaved;
  if (StartsWith(name, "N5torch8autograd") && Has(name, "PyFunction") && Has(name, "Hook"))
    return CppClass::kPythonHook;
  if (StartsWith(name, "N3c106ivalue") || StartsWith(name, "N3c106detail8ListImpl")) return CppClass::kContainer;
  return IsNode(info, memory) ? CppClass::kNode : CppClass::kOther;
}

const CppClasses::Known& CppClasses::Of(uint64_t table, const ProcessMemory& memory) {
  static constexpr Known kNone = {"", CppClass::kOther};
  if (table % 8 != 0 || !memory.IsFile(table)) return kNone;
  if (const Known* known = known_.Find(table)) return *known;
  Known* known = known_.Insert(table);
  if (known == nullptr) return kNone;
  *known = kNone;
  uint64_t info, address;
  char name[kNameBytes];
  if (memory.Read(table - 8, &info, sizeof info) == sizeof info && NameAt(info, memory, name, &address)) {
    *known = {reinterpret_cast<const char*>(address), Classify(name, info, memory)};
  }
  return *known;
}

// Names are a length and as many characters. Arguments of templates follow as I…E.
size_t LastName(const char* mangled, char* to, size_t capacity) {
  const char* best = mangled;
  size_t best_size = std::strlen(mangled);
  const char* at = mangled;
  if (*at == 'N') ++at;
  while (*at >= '1' && *at <= '9') {
    size_t size = 0;
    for (; *at >= '0' && *at <= '9'; ++at) size = 10 * size + static_cast<size_t>(*at - '0');
    if (size > std::strlen(at)) break;
    best = at;
    best_size = size;
    at += size;
  }
  // A class template of PyTorch's for functions in C++: the argument is the program's class.
  if (*at == 'I' && best_size == 7 && std::memcmp(best, "CppNode", 7) == 0 && at[1] != '\0') {
    return LastName(at + 1, to, capacity);
  }
  if (best_size > capacity) best_size = capacity;
  std::memcpy(to, best, best_size);
  return best_size;
}

uint32_t ElementBytes(uint8_t dtype) {
  // As PyTorch numbers them (c10/core/ScalarType.h): byte, char, short, int, long, half, float, double, complex half,
  // complex float, complex double, bool, five quantized ones, bfloat16, …
  constexpr uint8_t kBytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2};
  const size_t type = dtype - size_t{1};
  if (dtype == 0) return 0;
  if (type < sizeof kBytes) return kBytes[type];
  return type >= 23 && type <= 26 ? 1 : 0;  // 8 bit floating point
}

void AddRecordedDeleter(const void* deleter) {
  for (std::atomic<const void*>& one : recorded_deleters) {
    const void* none = nullptr;
    if (one.compare_exchange_strong(none, deleter) || none == deleter) return;
  }
}

bool TensorLayout::ReadStorage(uint64_t storage, const ProcessMemory& memory, TensorFacts* facts) const {
  // The reference counts of a StorageImpl are those of a TensorImpl. They are followed by the memory's address, the
  // function that frees it and its owner, the device and the size.
  uint64_t words[10];
  if (memory.Read(storage, words, sizeof words) != sizeof words) return false;
  const size_t data = storage_word_;
  facts->data = words[data];
  facts->device_type = static_cast<uint8_t>(words[data + 3]);
  facts->device = static_cast<uint8_t>(words[data + 3] >> 8);
  facts->is_recorded =
      facts->device_type == kCudaDevice || (facts->device_type == kCpuDevice && IsRecorded(words[data + 1]));
  facts->bytes = words[data + 4];
  return true;
}

// The number of dimensions, five sizes, five strides, the offset, the number of elements and the type follow each
// other (c10/core/impl/SizesAndStrides.h).
void TensorLayout::LearnSizes(const uint64_t* words, size_t count) {
  // Behind the tensor there may be another one.
  for (size_t at = storage_word_ + 3; at <= storage_word_ + 9 && at + 13 < count; ++at) {
    const uint64_t dimensions = words[at];
    if (dimensions < 2 || dimensions > 5) continue;
    uint64_t elements = 1, stride = 1;
    bool plausible = true;
    for (size_t i = dimensions; i-- > 0;) {
      plausible = plausible && words[at + 1 + i] > 0 && words[at + 1 + i] < uint64_t{1} << 40;
      plausible = plausible && words[at + 6 + i] == stride;
      stride *= words[at + 1 + i];
      elements *= words[at + 1 + i];
    }
    if (plausible && elements > 1 && words[at + 12] == elements) {
      size_word_ = at;
      return;
    }
  }
}

bool TensorLayout::Read(const uint64_t* words, size_t count, CppClasses* classes, const ProcessMemory& memory,
                        TensorFacts* facts) {
  *facts = {};
  facts->dimensions = UINT8_MAX;
  if (storage_word_ == 0) {
    // The first word after the table and one or two words of reference counts.
    for (size_t at = 2; at <= 3 && storage_word_ == 0; ++at) {
      uint64_t table = 0;
      if (at < count && memory.IsHeap(words[at])) memory.ReadWords(&words[at], 1, &table);
      if (table != 0 && classes->Of(table, memory).kind == CppClass::kStorage) storage_word_ = at;
    }
    if (storage_word_ == 0) return false;
  }
  // The count of references of one that was destroyed is 0.
  if (static_cast<uint32_t>(words[1]) == 0) return false;
  const uint64_t storage = words[storage_word_];
  if (!memory.IsHeap(storage) || !ReadStorage(storage, memory, facts)) return false;
  facts->autograd = memory.IsHeap(words[storage_word_ + 1]) ? words[storage_word_ + 1] : 0;
  if (size_word_ == 0) LearnSizes(words, count);
  if (size_word_ == 0 || size_word_ + 13 >= count) return true;
  const uint64_t* size = words + size_word_;
  if (size[0] > 5) return true;
  uint64_t elements = 1;
  for (size_t i = 0; i < size[0]; ++i) elements *= facts->sizes[i] = static_cast<int64_t>(size[1 + i]);
  if (elements != size[12]) return true;
  facts->dimensions = static_cast<uint8_t>(size[0]);
  facts->elements = elements;
  const auto type = static_cast<uint16_t>(size[13]);
  facts->dtype = type < 64 ? static_cast<uint8_t>(1 + type) : 0;
  return true;
}

}  // namespace vramtrack::holders
