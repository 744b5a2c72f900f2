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

}  // namespace vramtrack::nvtx

#endif  // INTERPOSE_HOOKS_TABLE_NVTX_ABI_H_
