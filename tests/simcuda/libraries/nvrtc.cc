// SPDX-License-Identifier: Apache-2.0
// libnvrtc: every program compiles, to nothing; its functions have one name.
#include <cstring>

#include "tests/simcuda/device/options.h"
#include "tests/simcuda/libraries/descriptor.h"

using vramtrack::simcuda::Create;
using vramtrack::simcuda::Destroy;

namespace {

constexpr size_t kCodeBytes = 8;

int GetCode(char* code) {
  memset(code, 0, kCodeBytes);
  return 0;
}

int GetSize(size_t* size, size_t bytes) {
  *size = bytes;
  return 0;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  const int version =
      vramtrack::simcuda::GetOptions().runtime_version != 0 ? vramtrack::simcuda::GetOptions().runtime_version : 13000;
  *major = version / 1000;
  *minor = version % 1000 / 10;
  return 0;
}

int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*, const char* const*) {
  return Create(program);
}

int nvrtcDestroyProgram(void** program) {
  Destroy(*program);
  *program = nullptr;
  return 0;
}

int nvrtcGetPTXSize(void*, size_t* size) { return GetSize(size, kCodeBytes); }
int nvrtcGetPTX(void*, char* code) { return GetCode(code); }
int nvrtcGetCUBINSize(void*, size_t* size) { return GetSize(size, kCodeBytes); }
int nvrtcGetCUBIN(void*, char* code) { return GetCode(code); }
int nvrtcGetProgramLogSize(void*, size_t* size) { return GetSize(size, 1); }

int nvrtcGetProgramLog(void*, char* log) {
  *log = '\0';
  return 0;
}

int nvrtcGetLoweredName(void*, const char*, const char** name) {
  *name = "simulated_kernel";
  return 0;
}

const char* nvrtcGetErrorString(int) { return "status of the simulated NVRTC"; }

}  // extern "C"
