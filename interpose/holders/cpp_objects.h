// SPDX-License-Identifier: Apache-2.0
//
// Recognizes PyTorch's C++ objects in memory by their run-time type information (Itanium C++ ABI, "RTTI Layout"), and
// reads what a walk needs from them: a tensor's memory, shape and data type, and what an autograd graph node keeps.
// Nothing is assumed about positions of fields that differ between versions: they are found in the first objects, and
// each object is tested before it is believed.
#ifndef INTERPOSE_HOLDERS_CPP_OBJECTS_H_
#define INTERPOSE_HOLDERS_CPP_OBJECTS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/compact_table.h"
#include "interpose/holders/process_memory.h"

namespace vramtrack::holders {

enum class CppClass : uint8_t {
  kUnknown,
  kOther,
  kTensor,          // c10::TensorImpl and classes derived from it
  kStorage,         // c10::StorageImpl
  kNode,            // torch::autograd::Node and classes derived from it
  kAccumulateGrad,  // the node that adds to a leaf's gradient; it belongs to the leaf
  kPythonNode,      // the node of a torch.autograd.Function
  kPythonHook,      // a hook that is a Python function
  kPythonSaved,     // a saved tensor that a Python hook has packed
  kContainer,       // what TorchScript and futures keep their values in
};

// The classes of the virtual tables that were met. Zero-initialised memory is an empty set.
class CppClasses {
 public:
  struct Known {
    const char* name;  // mangled, as the type information has it
    CppClass kind;
  };
  // Returns the class of an object whose first word is `table`.
  const Known& Of(uint64_t table, const ProcessMemory& memory);
  void Free() { known_.Free(); }

 private:
  static CppClass Classify(const char* name, uint64_t info, const ProcessMemory& memory);

  CompactTable<Known> known_;  // by the address of the virtual table
};

// Writes the last name of a mangled one to `to`, "AddmmBackward0" of "N5torch8autograd9generated14AddmmBackward0E".
// Returns its length, at most `capacity`.
size_t LastName(const char* mangled, char* to, size_t capacity);

constexpr uint8_t kCpuDevice = 0, kCudaDevice = 1;  // c10::DeviceType

// What a TensorImpl says about a tensor with memory.
struct TensorFacts {
  uint64_t data;   // address of its storage's memory, 0: none
  uint64_t bytes;  // of the storage
  uint8_t device_type, device;
  bool is_recorded;    // the memory is a device's, or a block of a recorded pool on the host
  uint64_t autograd;   // its AutogradMeta, 0: none
  uint8_t dtype;       // 1 + ScalarType, 0: unknown
  uint8_t dimensions;  // UINT8_MAX: unknown
  int64_t sizes[5];
  uint64_t elements;
};

// From now on, memory of the host is recorded if this function frees it. At most 4 are kept. Thread-safe.
void AddRecordedDeleter(const void* deleter);

// Where TensorImpl and StorageImpl have their fields. Zero-initialised memory is an unknown layout.
class TensorLayout {
 public:
  static constexpr size_t kWords = 40;  // of a TensorImpl that are looked at
  // Reads a TensorImpl, of which `words` are the first `count` words. Returns false if it has no storage.
  bool Read(const uint64_t* words, size_t count, CppClasses* classes, const ProcessMemory& memory, TensorFacts* facts);
  // Reads a StorageImpl.
  bool ReadStorage(uint64_t storage, const ProcessMemory& memory, TensorFacts* facts) const;
  bool known() const { return storage_word_ != 0; }

 private:
  void LearnSizes(const uint64_t* words, size_t count);

  size_t storage_word_, size_word_;
};

// Returns the size of one element, 0 if it is unknown. `dtype` as in TensorFacts.
uint32_t ElementBytes(uint8_t dtype);

}  // namespace vramtrack::holders

#endif  // INTERPOSE_HOLDERS_CPP_OBJECTS_H_
