// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_VIRTUAL_MEMORY_H_
#define TESTS_SIMCUDA_DEVICE_VIRTUAL_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "tests/simcuda/device/device_memory.h"

namespace vramtrack::simcuda {

// Device memory without an address, from cuMemCreate. It is freed when it has neither handles nor mappings. A multicast
// object has no memory of its own; memory that is bound to it counts as mapped.
struct PhysicalMemory {
  int device = 0;
  size_t bytes = 0;
  unsigned handle_types = 0;
  std::vector<DeviceMemory::PageRun> runs;
  unsigned handles = 1;
  unsigned mappings = 0;
  bool borrowed = false;  // the pages belong to another owner
  bool foreign = false;   // they belong to another process; the bases of the runs are offsets in its file
  int file = -1;          // file of foreign memory with backing; closed with this object
  bool multicast = false;
  std::map<size_t, PhysicalMemory*> bound;  // memory bound to a multicast object, by offset
};

// The address ranges that the program has reserved, and the memory mapped into them. Thread-safe.
class VirtualMemory {
 public:
  enum class Result { kOk, kInvalid, kOutOfMemory };
  struct Mapping {
    char* base = nullptr;
    size_t bytes = 0;
    int device = 0;
    PhysicalMemory* memory = nullptr;
    size_t offset = 0;
    int access = 0;  // access of its own device: 0 none, 1 read, 3 read and write
  };

  Result Reserve(size_t bytes, size_t alignment, void* wish, char** address);
  Result Release(void* address, size_t bytes);

  // `bytes` must be a multiple of the page size.
  Result Create(int device, size_t bytes, unsigned handle_types, PhysicalMemory** memory);
  PhysicalMemory* CreateMulticast(size_t bytes, unsigned handle_types);
  void Retain(PhysicalMemory* memory);
  Result Drop(PhysicalMemory* memory);
  bool IsLive(PhysicalMemory* memory);

  Result Map(void* address, size_t bytes, size_t offset, PhysicalMemory* memory);
  // The range must consist of whole mappings.
  Result Unmap(void* address, size_t bytes);
  Result SetAccess(void* address, size_t bytes, int access);

  Result Bind(PhysicalMemory* multicast, size_t offset, PhysicalMemory* memory);
  Result Unbind(PhysicalMemory* multicast, size_t offset);

  // Maps allocated memory of a device at a second address, as another process would. Opening the same memory again
  // gives the same address, which must be closed as often as it was opened.
  Result OpenWindow(DeviceMemory* device, int ordinal, char* address, size_t bytes, char** window);
  // Does the same for memory of another process, which has it at `address`. The memory begins `offset` bytes into the
  // device's file `file`, which is -1 without backing. Takes ownership of `file`, and closes it with the window or at
  // once.
  Result OpenForeignWindow(pid_t process, char* address, int ordinal, int file, size_t offset, size_t bytes,
                           char** window);
  Result CloseWindow(void* window);

  // Returns memory of another process, with one handle. Takes ownership of `file`.
  PhysicalMemory* AdoptForeign(int ordinal, int file, size_t bytes, const std::vector<DeviceMemory::PageRun>& runs);

  bool FindMapping(const void* address, Mapping* mapping);
  bool FindReservation(const void* address, char** base, size_t* bytes);

  static VirtualMemory& Get();

 private:
  struct Window {
    pid_t process;
    char* target;
    char* reservation;
    size_t bytes;  // size of the reservation
    unsigned opened;
  };

  void FreeIfUnused(PhysicalMemory* memory);
  // Maps `borrowed` unless it is mapped already; its bytes from `skip` on are those at `target` in the process. Takes
  // ownership of `borrowed`. Requires windows_mutex_ to be held.
  Result MapWindow(pid_t process, char* target, PhysicalMemory* borrowed, size_t skip, char** window);
  bool FindWindow(pid_t process, const char* target, char** window);

  std::mutex mutex_;
  char* next_address_ = nullptr;
  std::map<char*, size_t> reservations_;
  std::map<char*, Mapping> mappings_;
  std::set<PhysicalMemory*> memories_;
  std::mutex windows_mutex_;
  std::map<char*, Window> windows_;
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_VIRTUAL_MEMORY_H_
