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
  uint64_t cupti_ns, ticks;  // read together
};

// Needs zeroed memory, about 1 MiB. One thread uses it at a time.
class ActivityEncoder {
 public:
  static constexpr size_t kMaxRecords = 4096;
  static constexpr size_t kMaxTextBytes = 512;  // longer texts are cut

  // Returns the id of a text, 0 for an empty one. A text that no earlier frame has is defined in the next frame.
  uint32_t TextId(const char* text);

  // True if the frame is full: call Finish before adding more.
  bool full() const { return records_ == kMaxRecords || text_used_ > kTextRoom - kMaxTextBytes - 16; }
  void Add(const ActivityRecord& record);
  // Adds a span. Every frame has space for a few.
  void AddSpan(bool begins, uint64_t ticks, const char* why);

  size_t records() const { return records_; }
  bool empty() const { return records_ == 0 && span_used_ == 0; }

  // Returns the frame of what was added and begins a new one. The frame is valid until the next call.
  uint8_t* Finish(uint32_t cupti_version, ActivityTie tie, bool with_generation, size_t* frame_bytes);

  // Defines all texts anew from now on, because the frames that had them are not in the file or may be removed.
  void ForgetTexts();

 private:
  static constexpr size_t kTextSlots = 1 << 14;
  static constexpr size_t kTextRoom = 256 << 10;
  static constexpr size_t kSpanRoom = 4 << 10;
  static constexpr size_t kShapeSlots = 2 * kMaxRecords;
  static constexpr size_t kColumns = 5;
  static constexpr size_t kColumnRoom = kMaxRecords * kMaxVarintBytes;
  // The worst case of each column, and of shapes: seven values of at most ten bytes each.
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
