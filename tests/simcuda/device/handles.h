// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_HANDLES_H_
#define TESTS_SIMCUDA_DEVICE_HANDLES_H_

#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

namespace vramtrack::simcuda {

// Creates the objects behind the opaque pointers of programs. The memory of a destroyed object is reused only for
// objects of the same type. A handle that is used too late is therefore usually recognized and does not crash.
// Thread-safe.
template <typename Object>
class Handles {
 public:
  template <typename... Arguments>
  static Object* Create(Arguments&&... arguments) {
    Slot* slot = nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex());
      if (!unused().empty()) {
        slot = unused().back();
        unused().pop_back();
      }
    }
    if (slot == nullptr) slot = new Slot;
    Object* object = new (slot->storage) Object(std::forward<Arguments>(arguments)...);
    slot->state = kAlive;
    return object;
  }

  // Returns the object of a handle, or nullptr if it was destroyed. Does not detect wild pointers.
  template <typename Handle>
  static Object* Get(Handle handle) {
    Slot* slot = reinterpret_cast<Slot*>(handle);
    return slot != nullptr && slot->state == kAlive ? reinterpret_cast<Object*>(slot->storage) : nullptr;
  }

  static void Destroy(Object* object) {
    Slot* slot = reinterpret_cast<Slot*>(object);
    slot->state = kUnused;
    object->~Object();
    std::lock_guard<std::mutex> lock(mutex());
    unused().push_back(slot);
  }

 private:
  static constexpr uint64_t kAlive = 0x73696d6375646121;  // "simcuda!"
  static constexpr uint64_t kUnused = 0;

  // The object is the first member, so a pointer to it is the handle.
  struct Slot {
    alignas(Object) unsigned char storage[sizeof(Object)];
    uint64_t state = kUnused;
  };

  // Never destroyed, because programs use handles in their destructors at exit.
  static std::mutex& mutex() {
    static std::mutex* mutex = new std::mutex;
    return *mutex;
  }
  static std::vector<Slot*>& unused() {
    static std::vector<Slot*>* unused = new std::vector<Slot*>;
    return *unused;
  }
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_HANDLES_H_
