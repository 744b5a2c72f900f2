// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_GROWING_ARRAY_H_
#define INTERPOSE_BASE_GROWING_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/base/system_call.h"

namespace vramtrack {

// An array of plain data that maps its own memory and unmaps it only in Free. Zero-initialised memory is an empty
// array. Not thread-safe.
template <typename T>
class GrowingArray {
 public:
  size_t size() const { return size_; }
  T* data() { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  void Clear() { size_ = 0; }
  // Empties the array and unmaps its memory.
  void Free() {
    if (data_ != nullptr) Unmap(data_, capacity_ * sizeof(T));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  // Makes room for `more` further elements. Returns false, with the array unchanged, if there is no memory.
  bool Reserve(size_t more) {
    if (__builtin_expect(capacity_ - size_ >= more, 1)) return true;
    size_t capacity = capacity_ == 0 ? kFirstBytes / sizeof(T) : 2 * capacity_;
    while (capacity - size_ < more) capacity *= 2;
    void* at =
        data_ == nullptr ? MapPrivate(capacity * sizeof(T)) : Remap(data_, capacity_ * sizeof(T), capacity * sizeof(T));
    if (at == nullptr) return false;
    data_ = static_cast<T*>(at);
    capacity_ = capacity;
    return true;
  }

  // Does the same, in large pages where the kernel gives them.
  bool ReserveInHugePages(size_t more) {
    if (!Reserve(more)) return false;
    // All of it: if only a part is in such pages, the kernel refuses to make it larger.
    UseHugePages(data_, capacity_ * sizeof(T));
    return true;
  }

  // These append without a check: the caller has called Reserve first. Extend appends what is in the memory.
  void Add(const T& value) { data_[size_++] = value; }
  void AddMany(const T* values, size_t count) {
    if (count > 0) std::memcpy(data_ + size_, values, count * sizeof(T));
    size_ += count;
  }
  void Extend(size_t count) { size_ += count; }

 private:
  static constexpr size_t kFirstBytes = 64 << 10;

  T* data_;
  size_t size_, capacity_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_GROWING_ARRAY_H_
