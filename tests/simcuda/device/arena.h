// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_ARENA_H_
#define TESTS_SIMCUDA_DEVICE_ARENA_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace vramtrack::simcuda {

// The address range that stands for one device's memory. With backing it is a sparse file in memory, so that a part of
// it can be mapped at a second address as well, and only pages that a copy or a fill reached take host memory. Without,
// it is nothing but addresses. Touch and Discard are thread safe for different pages.
class Arena {
 public:
  // `bytes` is a multiple of the page size. Addresses are the same in every run where the operating system allows it.
  Arena(int device, size_t bytes, bool backed);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  char* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  bool backed() const { return file_ >= 0; }
  // The file of a backed one, for other processes to open; -1 otherwise.
  int file() const { return file_; }

  // To be called before bytes of the range are written.
  void Touch(const void* address, size_t bytes);

  // Makes the range read as zero, which costs nothing where it was never written.
  void Clear(void* address, size_t bytes);

  // Gives the host memory of whole pages back; they read as zero afterwards.
  void Discard(size_t first_page, size_t pages);

  // Maps `bytes` from `offset` at `address` too. Needs backing.
  bool MapAlias(void* address, size_t offset, size_t bytes, int protection) const;

 private:
  char* base_ = nullptr;
  size_t bytes_;
  int file_ = -1;
  std::unique_ptr<std::atomic<uint64_t>[]> touched_;  // a bit a page
};

// Reserves `bytes` of addresses, aligned to `alignment`, that cannot be accessed; `hint` if that range is free. nullptr
// when the process has no addresses left.
char* ReserveAddresses(char* hint, size_t bytes, size_t alignment);
void ReleaseAddresses(char* address, size_t bytes);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_ARENA_H_
