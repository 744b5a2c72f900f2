// SPDX-License-Identifier: Apache-2.0
//
// Sets ranges and marks in every way that NVTX's own header has. Those of another domain are not the program's own.
#include <cuda_runtime_api.h>

#include <cstdio>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>

int main() {
  nvtxRangePushA("before CUDA");
  void* memory = nullptr;
  if (cudaMalloc(&memory, 1000) != cudaSuccess) return 1;
  nvtxRangePop();
  nvtxRangePushA("step 17");
  nvtxMarkA("epoch 3 step 18");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "with attributes";
  nvtxRangePushEx(&attributes);
  nvtxDomainRangePushEx(nullptr, &attributes);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(nullptr, "registered 5");
  nvtxMarkEx(&attributes);
  nvtxDomainMarkEx(nullptr, &attributes);
  nvtxDomainHandle_t domain = nvtxDomainCreateA("a library's");
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "its own");
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);
  nvtxDomainRangePop(nullptr);
  nvtxRangePop();
  attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  attributes.message.unicode = L"wide";
  nvtxMarkEx(&attributes);
  attributes.messageType = NVTX_MESSAGE_UNKNOWN;
  nvtxMarkEx(&attributes);
  nvtxMarkEx(nullptr);
  std::printf("%d %d\n", nvtxRangePushA("level"), nvtxRangePop());
}
#else
int main() { std::printf("without NVTX\n"); }
#endif
