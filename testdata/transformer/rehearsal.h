// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_REHEARSAL_H_
#define TESTDATA_TRANSFORMER_REHEARSAL_H_

namespace transformer {

// While a Rehearsal exists, buffers have a size and a source line but no memory, copies and kernels do nothing, and no
// CUDA function is called. Before its first step a program uses a rehearsal to compute what each step will leak, with
// the same code that will run. At most one may exist at a time; not thread-safe.
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
