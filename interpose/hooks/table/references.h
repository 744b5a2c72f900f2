// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_HOOKS_TABLE_REFERENCES_H_
#define INTERPOSE_HOOKS_TABLE_REFERENCES_H_

#include <cstdint>

#include "interpose/base/concurrent_table.h"

namespace vramtrack {

// Counts the owners of what CUDA gives out more than once: memory handles and IPC mappings. Thread-safe
// in the sense of ConcurrentTable: the program orders the calls for one key, as CUDA asks it to.
class References {
 public:
  // One more owner of what has at least one.
  void Retain(uint64_t key) { more_.Insert(key, more_.Find(key) + 1); }

  // One owner less. False: it was the last one, and the thing ends.
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
