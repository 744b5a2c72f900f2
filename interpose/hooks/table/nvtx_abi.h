// SPDX-License-Identifier: Apache-2.0
//
// The types and numbers of the injection interface of NVTX, from nvtx3/nvToolsExt.h and nvtx3/nvtxDetail/nvtxTypes.h.
#ifndef INTERPOSE_HOOKS_TABLE_NVTX_ABI_H_
#define INTERPOSE_HOOKS_TABLE_NVTX_ABI_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack::nvtx {

// nvtxEventAttributes_t
struct EventAttributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, reserved;
  uint64_t payload;
  int32_t message_type;
  const void* message;
};
constexpr int32_t kAscii = 1, kUnicode = 2, kRegistered = 3;

using Function = void (*)();
struct ExportedCallbacks {  // NvtxExportTableCallbacks
  size_t size;
  int (*get_module_functions)(int module, Function*** functions, unsigned* count);
};
constexpr uint32_t kCallbacks = 1;    // NVTX_ETID_CALLBACKS
constexpr int kCore = 1, kCore2 = 5;  // NvtxCallbackModule

// The memory extension: nvtx3/nvToolsExtMem.h and nvtx3/nvtxDetail/nvtxExtTypes.h.
constexpr uint16_t kMemoryModule = 1, kMemoryCompatibility = 0x0102;

struct ExtensionSegment {  // nvtxExtModuleSegment_t
  size_t id, slot_count;
  intptr_t* slots;
};
struct ExtensionModule {  // nvtxExtModuleInfo_t
  uint16_t version, size, module, compatibility;
  size_t segment_count;
  ExtensionSegment* segments;
  void* get_export_function;
  const void* private_info;
};

constexpr uint32_t kSubAllocator = 1;    // NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR
constexpr uint32_t kVirtualAddress = 1;  // NVTX_MEM_TYPE_VIRTUAL_ADDRESS

struct VirtualRange {  // nvtxMemVirtualRangeDesc_t
  size_t bytes;
  const void* address;
};
struct HeapDescription {  // nvtxMemHeapDesc_t
  uint16_t compatibility, size;
  uint32_t reserved, usage, type;
  size_t description_bytes;
  const void* description;
  uint32_t category, message_type;
  const void* message;
};
struct RegionsRegister {  // nvtxMemRegionsRegisterBatch_t
  uint16_t compatibility, size;
  uint32_t type;
  const void* heap;
  size_t count, element_bytes;
  const void* elements;
  const void** handles;  // of the regions, which the tool returns; may be null
};
struct RegionsResize {  // nvtxMemRegionsResizeBatch_t
  uint16_t compatibility, size;
  uint32_t type;
  size_t count, element_bytes;
  const void* elements;
};
struct RegionName {  // nvtxMemRegionNameDesc_t
  uint32_t reference_type, name_type;
  const void* region;  // a pointer or a handle
  const void* name;
  uint32_t category, reserved;
};
struct RegionNames {  // nvtxMemRegionsNameBatch_t
  uint16_t compatibility, size;
  uint32_t reserved;
  size_t count, element_bytes;
  const void* elements;
  size_t reserved_too;
};
struct RegionsUnregister {  // nvtxMemRegionsUnregisterBatch_t
  uint16_t compatibility, size;
  uint32_t reference_type;
  size_t count, element_bytes;
  const void* elements;  // each a pointer or a handle
};

}  // namespace vramtrack::nvtx

#endif  // INTERPOSE_HOOKS_TABLE_NVTX_ABI_H_
