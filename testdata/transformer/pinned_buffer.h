// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_PINNED_BUFFER_H_
#define TESTDATA_TRANSFORMER_PINNED_BUFFER_H_

#include <cstddef>
#include <utility>

#include "testdata/transformer/cuda_api.h"
#include "testdata/transformer/cuda_error.h"
#include "testdata/transformer/rehearsal.h"
#include "testdata/transformer/source_line.h"

namespace transformer {

// Owns pinned host memory, from which an asynchronous copy to the device can be made. data() is null in a rehearsal.
// Movable; not thread-safe.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;

  TRANSFORMER_NOINLINE explicit PinnedBuffer(size_t bytes, SourceLine where = SourceLine::Here())
      : bytes_(bytes), where_(where) {
    if (Rehearsal::Active()) return;
    CheckAllocation(cudaMallocHost(&data_, bytes), "cudaMallocHost", bytes, where);
  }

  PinnedBuffer(PinnedBuffer&& other) noexcept { Swap(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    PinnedBuffer taken(std::move(other));
    Swap(taken);
    return *this;
  }
  ~PinnedBuffer() { Free(); }

  void* data() { return data_; }
  size_t bytes() const { return bytes_; }

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    visit(bytes_, where_);
  }

 private:
  TRANSFORMER_NOINLINE void Free() {
    if (data_ != nullptr) (void)cudaFreeHost(data_);
  }
  void Swap(PinnedBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(where_, other.where_);
  }

  void* data_ = nullptr;
  size_t bytes_ = 0;
  SourceLine where_ = {"", 0};
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_PINNED_BUFFER_H_
