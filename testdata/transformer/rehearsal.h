// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_REHEARSAL_H_
#define TESTDATA_TRANSFORMER_REHEARSAL_H_

namespace transformer {

// While a Rehearsal lives, buffers know their size and place but hold no memory, and copies and kernels do nothing: no
// CUDA call is made. That is how a program knows before its first step, and from the code that will run, what a step
// keeps. One at a time; not thread-safe.
class Rehearsal {
 public:
  Rehearsal() { active_ = true; }
  ~Rehearsal() { active_ = false; }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  static bool Active() { return active_; }

 private:
  static inline bool active_ = false;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_REHEARSAL_H_
