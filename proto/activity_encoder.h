// SPDX-License-Identifier: Apache-2.0
//
// Turns activity records into sealed Activities frames. For code inside the traced process: no allocation, no
// exceptions.
#ifndef PROTO_ACTIVITY_ENCODER_H_
#define PROTO_ACTIVITY_ENCODER_H_

#include <cstddef>
#include <cstdint>

#include "proto/activity_record.h"
#include "proto/frame.h"
#include "proto/varint.h"

namespace vramtrack {

struct ActivityTie {
  uint64_t cupti_ns, ticks;  // of the same moment
};

// Lives in zeroed memory of its own; about 1 MiB. Used by one thread at a time.
class ActivityEncoder {
 public:
  static constexpr size_t kMaxRecords = 4096;
  static constexpr size_t kMaxTextBytes = 512;  // longer ones are cut

  // The id of a text, 0 for an empty one. It is defined in the frame to come, if no earlier frame has it.
  uint32_t TextId(const char* text);

  // No more fits: Finish comes first.
  bool full() const { return records_ == kMaxRecords || text_used_ > kTextRoom - kMaxTextBytes - 16; }
  void Add(const ActivityRecord& record);
  // There is room for a few in every frame.
  void AddSpan(bool begins, uint64_t ticks, const char* why);

  size_t records() const { return records_; }
  bool empty() const { return records_ == 0 && span_used_ == 0; }

  // The frame of what was added; valid until the next call. What was added is forgotten.
  uint8_t* Finish(uint32_t cupti_version, ActivityTie tie, bool with_generation, size_t* frame_bytes);

  // Texts are defined anew from now on: the frames that had them are not in the file, or may go.
  void ForgetTexts();

 private:
  static constexpr size_t kTextSlots = 1 << 14;
  static constexpr size_t kTextRoom = 256 << 10;
  static constexpr size_t kSpanRoom = 4 << 10;
  static constexpr size_t kShapeSlots = 2 * kMaxRecords;
  static constexpr size_t kColumns = 5;
  static constexpr size_t kColumnRoom = kMaxRecords * kMaxVarintBytes;
  // Column by column what the worst case takes, and shapes: seven values each of ten bytes at most.
  static constexpr size_t kFrameRoom =
      kColumns * kColumnRoom + 8 * kColumnRoom + kTextRoom + kSpanRoom + 1024 + kSealedPrefixBytes;

  struct Shape {
    uint32_t kind, operation, memory, device, stream, text;
    uint64_t bytes, pool;
  };
  struct Text {
    uint64_t hash;
    uint32_t id;
  };

  uint32_t ShapeReference(const Shape& shape);
  void Put(size_t column, uint64_t value);

  size_t records_, shape_count_, text_used_, span_used_, texts_;
  uint32_t last_text_;
  uint64_t time_, address_;
  uint32_t correlation_;
  size_t column_used_[kColumns];
  uint16_t shape_slots_[kShapeSlots];  // 1 + row, 0: free
  Shape shapes_[kMaxRecords];
  Text text_slots_[kTextSlots];  // id 0: free
  uint8_t columns_[kColumns][kColumnRoom];
  uint8_t texts_encoded_[kTextRoom];
  uint8_t spans_encoded_[kSpanRoom];
  uint8_t frame_[kFrameRoom];
};

}  // namespace vramtrack

#endif  // PROTO_ACTIVITY_ENCODER_H_
