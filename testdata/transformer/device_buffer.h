// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_DEVICE_BUFFER_H_
#define TESTDATA_TRANSFORMER_DEVICE_BUFFER_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "testdata/transformer/cuda_api.h"
#include "testdata/transformer/cuda_error.h"
#include "testdata/transformer/rehearsal.h"
#include "testdata/transformer/source_line.h"

namespace transformer {

// Owns `count` uninitialized values of T in device memory. Remembers the source line that created it. data() is null in
// a rehearsal. Movable; not thread-safe.
template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;

  TRANSFORMER_NOINLINE explicit DeviceBuffer(size_t count, SourceLine where = SourceLine::Here())
      : count_(count), where_(where) {
    if (Rehearsal::Active()) return;
    void* data = nullptr;
    CheckAllocation(cudaMalloc(&data, bytes()), "cudaMalloc", bytes(), where);
    data_ = static_cast<T*>(data);
  }

  DeviceBuffer(DeviceBuffer&& other) noexcept { Swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~DeviceBuffer() { Free(); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t count() const { return count_; }
  size_t bytes() const { return count_ * sizeof(T); }
  SourceLine where() const { return where_; }

  void Zero() {
    if (data_ != nullptr) CheckCuda(cudaMemsetAsync(data_, 0, bytes()), "cudaMemsetAsync");
  }
  // Copies `count()` values from host memory. If that is pageable, the copy is complete on return.
  void CopyFrom(const T* host) {
    if (data_ != nullptr) CheckCuda(cudaMemcpyAsync(data_, host, bytes(), cudaMemcpyHostToDevice), "cudaMemcpyAsync");
  }
  std::vector<T> ToHost() const {
    std::vector<T> host(count_);
    if (data_ == nullptr) return host;
    CheckCuda(cudaMemcpyAsync(host.data(), data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpyAsync");
    CheckCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return host;
  }

  // Returns the memory without freeing it. The buffer is empty afterwards.
  T* Release() {
    count_ = 0;
    return std::exchange(data_, nullptr);
  }

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    visit(bytes(), where_);
  }

 private:
  TRANSFORMER_NOINLINE void Free() {
    // A failure here has been reported by an earlier call, or the process is going down.
    if (data_ != nullptr) (void)cudaFree(data_);
  }
  void Swap(DeviceBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    std::swap(where_, other.where_);
  }

  T* data_ = nullptr;
  size_t count_ = 0;
  SourceLine where_ = {"", 0};
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_DEVICE_BUFFER_H_
