// SPDX-License-Identifier: Apache-2.0
//
// Predicts which record matches the current stack, and checks the prediction word by word.
//
// The first guess is the record that followed the same five records earlier. If the stack differs from it at some word,
// the next guess is the record that was found after the same difference earlier. All words before the difference match,
// so the differing word is a real return address of this stack, and the same difference is likely to occur again.
#ifndef INTERPOSE_STACKS_PREDICTED_CAPTURE_H_
#define INTERPOSE_STACKS_PREDICTED_CAPTURE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/stacks/capture_thread.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/stack_record.h"

namespace vramtrack {

// The prediction of one capture. Used by one thread; neither argument is owned.
class Prediction {
 public:
  Prediction(CaptureThread* thread, StackRecords* records) : thread_(thread), records_(records) {}

  // Returns the index of the record that matches the stack at `start`, with every word checked, or 0 if no guess was
  // right. `room` is the number of bytes from start.sp that can be read.
  uint32_t Guess(const Registers& start, uint64_t room, uint32_t epoch);

  // Reports the right answer after a Guess that returned 0: the index of the stack's record, or 0 if it has none.
  void Was(uint32_t index);

 private:
  static constexpr int kMaxGuesses = 8;

  uint32_t* Group() const;
  uint32_t LaterGuess(uint32_t index, const Registers& start, uint64_t room, uint32_t epoch);
  void Note(uint32_t index);
  void Advance(uint32_t index);

  CaptureThread* thread_;
  StackRecords* records_;
  int guesses_ = 0;
  uint64_t keys_[kMaxGuesses];  // hashes of the differences found so far
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_PREDICTED_CAPTURE_H_
