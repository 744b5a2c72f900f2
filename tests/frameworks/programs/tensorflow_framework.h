// SPDX-License-Identifier: Apache-2.0
//
// TensorFlow's allocator and its way to run a function, as its libraries export them.
#ifndef TESTS_FRAMEWORKS_PROGRAMS_TENSORFLOW_FRAMEWORK_H_
#define TESTS_FRAMEWORKS_PROGRAMS_TENSORFLOW_FRAMEWORK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace tsl {

class __attribute__((visibility("default"))) BFCAllocator {
 public:
  // Serves `bytes` at `memory`, which is not its own.
  BFCAllocator(const std::string& name, void* memory, size_t bytes);
  virtual ~BFCAllocator();
#ifdef WITHOUT_NAME
  virtual std::string Title();
#else
  virtual std::string Name();
#endif

  // Returns null if nothing is left. Blocks are rounded up to 256 bytes, and given back in any order.
  void* AllocateRaw(size_t bytes);
  void DeallocateRaw(void* block);

  static uint64_t traced, dumped;  // calls that reached AddTraceMe and DumpMemoryLog

 private:
  void AddTraceMe(std::string_view name, const void* block, int64_t requested, int64_t allocated);
  void DumpMemoryLog(size_t bytes);

  std::mutex lock_;
  std::string name_;
  char* memory_;
  size_t bytes_, used_ = 0;
  std::map<void*, size_t> blocks_;
  std::multimap<size_t, void*> free_;
};

}  // namespace tsl

struct TFE_Op {
  std::string name;
  void (*run)();
};
extern "C" void TFE_Execute(TFE_Op* operation, void** results, int* count, void* status);
extern "C" const char* TFE_OpGetName(const TFE_Op* operation, void* status);

#endif  // TESTS_FRAMEWORKS_PROGRAMS_TENSORFLOW_FRAMEWORK_H_
