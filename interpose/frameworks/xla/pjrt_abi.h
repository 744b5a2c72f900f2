// SPDX-License-Identifier: Apache-2.0
//
// The part of PJRT's C interface that is hooked. A plugin of JAX or of another user of XLA exports GetPjrtApi, which
// returns a table of functions. All of them take one pointer to a structure of arguments, and return null or an error.
// Structures and the table begin with their size, and new fields come at the end. Source: OpenXLA's
// xla/pjrt/c/pjrt_c_api.h, versions 0.33 to 0.112, major version 0.
#ifndef INTERPOSE_FRAMEWORKS_XLA_PJRT_ABI_H_
#define INTERPOSE_FRAMEWORKS_XLA_PJRT_ABI_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack::pjrt {

struct Error;
struct Buffer;
struct Device;
struct Memory;
struct Executable;
struct LoadedExecutable;

using Function = Error* (*)(void* arguments);

// Indices of functions in the table.
enum {
  kErrorDestroy = 0,  // returns nothing
  kErrorGetCode = 2,
  kClientBufferFromHostBuffer = 22,
  kDeviceLocalHardwareId = 31,
  kMemoryKind = 36,
  kExecutableDestroy = 40,
  kExecutableName = 41,
  kExecutableNumOutputs = 44,
  kLoadedExecutableDestroy = 50,
  kLoadedExecutableGetExecutable = 51,
  kLoadedExecutableExecute = 55,
  kBufferDestroy = 58,
  kBufferOnDeviceSizeInBytes = 64,
  kBufferDevice = 65,
  kBufferMemory = 66,
  kBufferDelete = 67,
  kBufferIsDeleted = 68,
  kBufferCopyToDevice = 69,
  kBufferCopyToMemory = 92,
  kExecutableGetCompiledMemoryStats = 96,
  kFunctions = 256,  // more than any version has
};

struct Version {
  size_t struct_size;
  void* extension;
  int major, minor;
};

struct Api {
  size_t struct_size;
  void* extension;
  Version version;
  Function functions[kFunctions];  // as many as struct_size says
};

// What the arguments of all functions begin with.
struct Arguments {
  size_t struct_size;
  void* extension;
};

struct ErrorArguments : Arguments {
  Error* error;
};
struct ErrorCode : ErrorArguments {
  int code;
};
constexpr int kResourceExhausted = 8;

struct BufferFromHostBuffer : Arguments {
  void* client;
  const void* data;
  int type;
  const int64_t* dimensions;
  size_t dimension_count;
  const int64_t* byte_strides;
  size_t byte_stride_count;
  int semantics;
  Device* device;
  Memory* memory;
  void* layout;
  void* done_with_host_buffer;
  Buffer* buffer;  // out
};

struct LocalHardwareId : Arguments {
  Device* device;
  int id;  // out
};

struct MemoryKind : Arguments {
  Memory* memory;
  const char* kind;  // out
  size_t kind_size;  // out
};

struct ExecutableArguments : Arguments {
  Executable* executable;
};
struct ExecutableName : ExecutableArguments {
  const char* name;  // out; as long as the executable lives
  size_t name_size;  // out
};
struct NumOutputs : ExecutableArguments {
  size_t outputs;  // out
};
struct CompiledMemoryStats : ExecutableArguments {
  int64_t code, arguments, outputs, aliases, temporaries;  // out, bytes
  int64_t more[16];                                        // newer versions have more
};

struct LoadedExecutableArguments : Arguments {
  LoadedExecutable* executable;
};
struct GetExecutable : LoadedExecutableArguments {
  Executable* of;  // out
};
struct Execute : LoadedExecutableArguments {
  void* options;
  Buffer*** arguments;  // of each device
  size_t devices, argument_count;
  Buffer*** outputs;  // of each device; out
};

struct BufferArguments : Arguments {
  Buffer* buffer;
};
struct SizeInBytes : BufferArguments {
  size_t bytes;  // out
};
struct BufferDevice : BufferArguments {
  Device* device;  // out
};
struct BufferMemory : BufferArguments {
  Memory* memory;  // out
};
struct IsDeleted : BufferArguments {
  bool deleted;  // out
};
struct CopyTo : BufferArguments {
  void* destination;
  Buffer* copy;  // out
};

}  // namespace vramtrack::pjrt

#endif  // INTERPOSE_FRAMEWORKS_XLA_PJRT_ABI_H_
