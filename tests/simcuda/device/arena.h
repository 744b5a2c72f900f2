// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_ARENA_H_
#define TESTS_SIMCUDA_DEVICE_ARENA_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace vramtrack::simcuda {

// The address range of one device's memory. With backing it is a sparse file in memory: parts of it can be mapped at a
// second address, and only pages that were written take host memory. Without backing it consists of addresses that
// cannot be accessed. Touch and Discard are thread-safe for different pages.
class Arena {
 public:
  // `bytes` must be a multiple of the page size. The addresses are the same in every run if the operating system allows
  // it.
  Arena(int device, size_t bytes, bool backed);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  char* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  bool backed() const { return file_ >= 0; }
  // Returns the file descriptor of the backing, which other processes can open, or -1 without backing.
  int file() const { return file_; }

  // Call this before bytes of the range are written.
  void Touch(const void* address, size_t bytes);

  // Makes the range read as zero. This costs nothing for pages that were never written.
  void Clear(void* address, size_t bytes);

  // Releases the host memory of whole pages, which read as zero afterwards.
  void Discard(size_t first_page, size_t pages);

  // Maps `bytes` from `offset` at `address` as well. Returns false on failure. Requires backing.
  bool MapAlias(void* address, size_t offset, size_t bytes, int protection) const;

 private:
  char* base_ = nullptr;
  size_t bytes_;
  int file_ = -1;
  std::unique_ptr<std::atomic<uint64_t>[]> touched_;  // one bit per page
};

// Reserves `bytes` of addresses that cannot be accessed, aligned to `alignment`, at `hint` if that range is free.
// Returns nullptr if the process has no addresses left.
char* ReserveAddresses(char* hint, size_t bytes, size_t alignment);
void ReleaseAddresses(char* address, size_t bytes);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_ARENA_H_
