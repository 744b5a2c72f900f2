// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_CHECKPOINT_ENCODER_H_
#define INTERPOSE_RECORDER_CHECKPOINT_ENCODER_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "interpose/base/growing_array.h"
#include "interpose/recorder/folded_past.h"

namespace vramtrack {

// Encodes a FoldedPast as a Checkpoint message. Use each object once.
class CheckpointEncoder {
 public:
  // The encoder appends to `*out`; it keeps both pointers, which must stay valid.
  CheckpointEncoder(FoldedPast* past, uint32_t least_time_shift, GrowingArray<uint8_t>* out);

  // Returns false if there is no memory; the contents of `*out` are then unusable.
  bool Encode();

 private:
  void WriteDefinitions();
  void WriteThreads();
  void WriteSites();
  void WriteLive();
  void WriteFolds();
  void WriteSteps();
  void WriteGaps();
  void WriteMemory();
  void WriteFailures();
  void WriteSettings();
  void WriteFrees();
  uint64_t ShapeReference(const LiveRecord& live);

  struct Field {
    uint32_t number;
    uint64_t value;
  };
  // Writers of fields. A field with the value 0 is omitted; a column has all its values.
  void Varint(uint32_t field, uint64_t value);
  void Varints(std::initializer_list<Field> fields);
  void Message(uint32_t number, std::initializer_list<Field> fields);
  void Fixed64(uint32_t field, uint64_t value);
  void Raw(const void* data, size_t bytes);
  void RawVarint(uint64_t value);
  size_t Begin(uint32_t field);
  void End(size_t begun);
  template <typename Table, typename ValueOf>
  void Column(uint32_t field, Table* table, ValueOf value_of);
  template <typename Rows, typename Member>
  void RowColumn(uint32_t field, const Rows& rows, Member member);

  FoldedPast& past_;
  GrowingArray<uint8_t>& out_;
  uint32_t time_shift_;
  bool good_ = true;
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_CHECKPOINT_ENCODER_H_
