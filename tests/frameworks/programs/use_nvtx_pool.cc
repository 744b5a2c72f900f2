// SPDX-License-Identifier: Apache-2.0
//
// A pool that divides the memory of one cudaMalloc and describes its blocks with NVTX's memory extension. Each step
// allocates four blocks and keeps one. Then: pools whose memory is of the host, or unknown, a pool in a pool, and
// descriptions that are wrong.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#if __has_include(<nvtx3/nvToolsExtMem.h>)
#include <nvtx3/nvToolsExtMem.h>

#include "vramtrack/vramtrack.h"

namespace {

class Pool {
 public:
  Pool(char* memory, size_t bytes, const char* name, nvtxDomainHandle_t domain) : domain_(domain), next_(memory) {
    const nvtxMemVirtualRangeDesc_t range = {bytes, memory};
    nvtxMemHeapDesc_t description = {};
    description.extCompatID = NVTX_EXT_COMPATID_MEM;
    description.structSize = sizeof description;
    description.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
    description.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    description.typeSpecificDescSize = sizeof range;
    description.typeSpecificDesc = &range;
    description.messageType = NVTX_MESSAGE_TYPE_ASCII;
    description.message.ascii = name;
    heap_ = nvtxMemHeapRegister(domain_, &description);
  }

  void* Allocate(size_t bytes) {
    void* const block = next_;
    next_ += (bytes + 255) / 256 * 256;
    Register(block, bytes);
    return block;
  }
  void Register(const void* block, size_t bytes, nvtxMemRegionHandle_t* handle = nullptr) {
    const nvtxMemVirtualRangeDesc_t range = {bytes, block};
    nvtxMemRegionsRegisterBatch_t batch = {};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    batch.heap = heap_;
    batch.regionCount = 1;
    batch.regionDescElementSize = sizeof range;
    batch.regionDescElements = &range;
    batch.regionHandleElementsOut = handle;
    nvtxMemRegionsRegister(domain_, &batch);
  }
  void Resize(const void* block, size_t bytes) {
    const nvtxMemVirtualRangeDesc_t range = {bytes, block};
    nvtxMemRegionsResizeBatch_t batch = {};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    batch.regionDescCount = 1;
    batch.regionDescElementSize = sizeof range;
    batch.regionDescElements = &range;
    nvtxMemRegionsResize(domain_, &batch);
  }
  void Free(nvtxMemRegionRef_t block, uint32_t type) {
    nvtxMemRegionsUnregisterBatch_t batch = {};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.refType = type;
    batch.refCount = 1;
    batch.refElementSize = sizeof block;
    batch.refElements = &block;
    nvtxMemRegionsUnregister(domain_, &batch);
  }
  void Free(const void* block) {
    nvtxMemRegionRef_t reference;
    reference.pointer = block;
    Free(reference, NVTX_MEM_REGION_REF_TYPE_POINTER);
  }
  void Name(const void* block, const char* name) {
    nvtxMemRegionNameDesc_t named = {};
    named.regionRefType = NVTX_MEM_REGION_REF_TYPE_POINTER;
    named.nameType = NVTX_MESSAGE_TYPE_ASCII;
    named.region.pointer = block;
    named.name.ascii = name;
    nvtxMemRegionsNameBatch_t batch = {};
    batch.extCompatID = NVTX_EXT_COMPATID_MEM;
    batch.structSize = sizeof batch;
    batch.regionCount = 1;
    batch.regionElementSize = sizeof named;
    batch.regionElements = &named;
    nvtxMemRegionsName(domain_, &batch);
  }
  void Reset() { nvtxMemHeapReset(domain_, heap_); }
  void End() { nvtxMemHeapUnregister(domain_, heap_); }

 private:
  const nvtxDomainHandle_t domain_;
  nvtxMemHeapHandle_t heap_;
  char* next_;
};

}  // namespace

int main() {
  constexpr size_t kBytes = 16 << 20;
  char *memory = nullptr, *host = static_cast<char*>(std::malloc(kBytes));
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("engine");
  Pool early(host, kBytes, "before the first call", domain);
  early.Allocate(1000);
  if (cudaMalloc(reinterpret_cast<void**>(&memory), kBytes) != cudaSuccess) return 1;
  Pool pool(memory, kBytes, "activations", domain), of_host(host, kBytes, "of the host", domain);
  for (uint64_t step = 0; step < 50; ++step) {
    void* blocks[4];
    for (void*& block : blocks) block = pool.Allocate(10000);
    pool.Name(blocks[0], ("scores of step " + std::to_string(step)).c_str());
    for (int i = 1; i < 4; ++i) pool.Free(blocks[i]);
    of_host.Free(of_host.Allocate(300));
    VRAMTRACK_STEP(step, 0);
  }
  pool.Name(memory, "all of it");
  pool.Name(host, "nobody's");
  // A region can be resized, be registered twice, and end by its handle. Then nothing is left but 50 blocks.
  nvtxMemRegionHandle_t handle = nullptr;
  char* const last = memory + kBytes - 4096;
  pool.Register(last, 1000, &handle);
  pool.Resize(last, 2000);
  pool.Register(last, 3000, &handle);
  nvtxMemRegionRef_t reference;
  reference.handle = handle;
  pool.Free(reference, NVTX_MEM_REGION_REF_TYPE_HANDLE);
  pool.Free(last);               // that is none any more
  pool.Resize(last, 1);          // nor is this
  pool.Register(host, 1000);     // outside of the pool
  pool.Register(last, 1 << 20);  // beyond its end
  pool.Register(nullptr, 1000);
  nvtxMemRegionsRegister(domain, nullptr);
  // A pool in the pool, whose reset ends all that is in it, and its end the rest.
  Pool inner(memory + (8 << 20), 1 << 20, nullptr, nullptr);
  for (int i = 0; i < 1000; ++i) inner.Allocate(100);
  inner.Reset();
  for (int i = 0; i < 10; ++i) inner.Register(memory + (8 << 20) + 1024 * i, 512);
  inner.End();
  nvtxMemHeapUnregister(domain, NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE);
  std::printf("done\n");
}
#else
int main() { std::printf("without NVTX\n"); }
#endif
