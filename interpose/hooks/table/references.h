// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_HOOKS_TABLE_REFERENCES_H_
#define INTERPOSE_HOOKS_TABLE_REFERENCES_H_

#include <cstdint>

#include "interpose/base/concurrent_table.h"

namespace vramtrack {

// Counts the owners of objects that CUDA returns more than once: memory handles and IPC mappings. Thread-safe like
// ConcurrentTable: the program orders the calls for one key, as CUDA requires.
class References {
 public:
  // Adds an owner to an object that has at least one.
  void Retain(uint64_t key) { more_.Insert(key, more_.Find(key) + 1); }

  // Removes an owner. Returns false if it was the last one, so that the object ends.
  bool Release(uint64_t key) {
    const uint64_t more = more_.Find(key);
    if (more == 0) return false;
    if (more == 1) {
      more_.Remove(key);
    } else {
      more_.Insert(key, more - 1);
    }
    return true;
  }

  void Forget(uint64_t key) { more_.Remove(key); }

 private:
  ConcurrentTable more_;  // owners beyond the first
};

}  // namespace vramtrack

#endif  // INTERPOSE_HOOKS_TABLE_REFERENCES_H_
