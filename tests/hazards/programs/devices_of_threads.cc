// SPDX-License-Identifier: Apache-2.0
//
// Makes devices current in every way there is and never asks which one is. Memory on device 0 has an even number of
// pages, memory on device 1 an odd one.
#include <thread>

#include "tests/hazards/programs/device.h"
#include "tests/hazards/programs/driver.h"

namespace {

int pages = 100;
void TakeOn(int device) {
  pages += 2;
  CUdeviceptr pointer;
  CU(cuMemAlloc_v2, &pointer, static_cast<size_t>(pages + device) * 4096);
  CU(cuMemFree_v2, pointer);
}

CUcontext GreenContextOn(int device) {
  CUdevResource resource;
  CUdevResourceDesc description;
  CUgreenCtx green;
  CUcontext context;
  CU(cuDeviceGetDevResource, device, &resource, CU_DEV_RESOURCE_TYPE_SM);
  CU(cuDevResourceGenerateDesc, &description, &resource, 1);
  CU(cuGreenCtxCreate, &green, description, device, CU_GREEN_CTX_DEFAULT_STREAM);
  CU(cuCtxFromGreenCtx, &context, green);
  return context;
}

}  // namespace

int main() {
  CUcontext primary, own, popped;
  cudaSetDevice(1);
  Give(Take(4096));
  CU(cuCtxGetCurrent, &primary);
  TakeOn(1);
  // A new thread begins with device 0.
  std::thread([&] {
    Give(Take(8192));
    TakeOn(0);
    CU(cuCtxPushCurrent_v2, primary);
    TakeOn(1);
    CU(cuCtxPopCurrent_v2, &popped);
    TakeOn(0);
    CU(cuCtxSetCurrent, GreenContextOn(1));
    TakeOn(1);
    CU(cuCtxPushCurrent_v2, GreenContextOn(0));
    TakeOn(0);
    CU(cuCtxPopCurrent_v2, &popped);
    TakeOn(1);
  }).join();
  TakeOn(1);
  cudaSetDevice(0);
  Give(Take(8192));
  TakeOn(0);
  Check(Driver<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2")(&own, 0, 1), __LINE__);
  TakeOn(1);
  CU(cuCtxDestroy_v2, own);
  std::puts("done");
  return 0;
}
