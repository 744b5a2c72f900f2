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

// Device memory without an address of its own, from cuMemCreate. Lives until no handle and no mapping is left. A
// multicast object is one without memory: what is bound to it counts as mapped by it.
struct PhysicalMemory {
  int device = 0;
  size_t bytes = 0;
  unsigned handle_types = 0;
  std::vector<DeviceMemory::PageRun> runs;
  unsigned handles = 1;
  unsigned mappings = 0;
  bool borrowed = false;  // the pages are somebody else's
  bool foreign = false;   // namely another process's: the bases of the runs are offsets in its file
  int file = -1;          // of foreign memory, if that is backed; closed with it
  bool multicast = false;
  std::map<size_t, PhysicalMemory*> bound;  // to a multicast object, by offset
};

// Address ranges reserved by the program and what is mapped into them. Thread safe.
class VirtualMemory {
 public:
  enum class Result { kOk, kInvalid, kOutOfMemory };
  struct Mapping {
    char* base = nullptr;
    size_t bytes = 0;
    int device = 0;
    PhysicalMemory* memory = nullptr;
    size_t offset = 0;
    int access = 0;  // of its own device: 0 none, 1 read, 3 read and write
  };

  Result Reserve(size_t bytes, size_t alignment, void* wish, char** address);
  Result Release(void* address, size_t bytes);

  // `bytes` is a multiple of the page size.
  Result Create(int device, size_t bytes, unsigned handle_types, PhysicalMemory** memory);
  PhysicalMemory* CreateMulticast(size_t bytes, unsigned handle_types);
  void Retain(PhysicalMemory* memory);
  Result Drop(PhysicalMemory* memory);
  bool IsLive(PhysicalMemory* memory);

  Result Map(void* address, size_t bytes, size_t offset, PhysicalMemory* memory);
  // The range must hold whole mappings.
  Result Unmap(void* address, size_t bytes);
  Result SetAccess(void* address, size_t bytes, int access);

  Result Bind(PhysicalMemory* multicast, size_t offset, PhysicalMemory* memory);
  Result Unbind(PhysicalMemory* multicast, size_t offset);

  // A second address of memory that a device has given out, as another process would have it. Opening the same memory
  // again gives the same address, which is to be closed as often.
  Result OpenWindow(DeviceMemory* device, int ordinal, char* address, size_t bytes, char** window);
  // The same for memory that begins `offset` bytes into the device of another process, which has it at `address` and
  // has opened its file; `file` is -1 without backing, and is closed with the window otherwise, or at once.
  Result OpenForeignWindow(pid_t process, char* address, int ordinal, int file, size_t offset, size_t bytes,
                           char** window);
  Result CloseWindow(void* window);

  // Memory of another process, with one handle. Closes `file` in the end.
  PhysicalMemory* AdoptForeign(int ordinal, int file, size_t bytes, const std::vector<DeviceMemory::PageRun>& runs);

  bool FindMapping(const void* address, Mapping* mapping);
  bool FindReservation(const void* address, char** base, size_t* bytes);

  static VirtualMemory& Get();

 private:
  struct Window {
    pid_t process;
    char* target;
    char* reservation;
    size_t bytes;  // of the reservation
    unsigned opened;
  };

  void FreeIfUnused(PhysicalMemory* memory);
  // Maps `borrowed`, whose bytes from `skip` on are those at `target` in that process, unless that is done already.
  // Takes it over. Wants windows_mutex_.
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
