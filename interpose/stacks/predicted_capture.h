// SPDX-License-Identifier: Apache-2.0
//
// Guesses which record the present stack is, and checks the guess word by word.
//
// The first guess is the record that followed the last five before. Where it differs, at some word, the next guess is
// what was found after the same difference earlier: the words before that one hold, so what is read there is a true
// return address of this stack, and such a key recurs.
#ifndef INTERPOSE_STACKS_PREDICTED_CAPTURE_H_
#define INTERPOSE_STACKS_PREDICTED_CAPTURE_H_

#include <cstddef>
#include <cstdint>

#include "interpose/stacks/capture_thread.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/stack_record.h"

namespace vramtrack {

class Prediction {
 public:
  Prediction(CaptureThread* thread, StackRecords* records) : thread_(thread), records_(records) {}

  // The record that the stack at `start` is, with every word of it checked, or 0 where no guess held. `room`: bytes
  // that may be read from start.sp on.
  uint32_t Guess(const Registers& start, uint64_t room, uint32_t epoch);

  // After a Guess that gave 0: what the stack turned out to be; 0 for one without a record.
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
  uint64_t keys_[kMaxGuesses];  // of the differences
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_PREDICTED_CAPTURE_H_
