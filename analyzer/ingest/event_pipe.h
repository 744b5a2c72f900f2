// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_INGEST_EVENT_PIPE_H_
#define ANALYZER_INGEST_EVENT_PIPE_H_

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "analyzer/ingest/event_stream.h"

namespace vramtrack {

// Delivers the events of an EventStream in batches and in the same order. On request, a separate thread decodes them a
// few batches ahead of the reader; the events are the same either way. Memory is bounded by the batches. Only one
// thread may call Next().
class EventPipe {
 public:
  // `ahead`: decode in a separate thread. If no thread can be started, the reader decodes. `trace` must outlive this.
  EventPipe(const Trace& trace, bool ahead);
  ~EventPipe();
  EventPipe(const EventPipe&) = delete;
  EventPipe& operator=(const EventPipe&) = delete;

  // Returns the next batch; empty after the last event. The events and what they point to are valid until the next
  // call.
  const std::vector<StreamEvent>& Next();

  // See EventStream::Continue. Only for a pipe that does not decode ahead.
  bool Continue() { return !thread_.joinable() && stream_.Continue(); }

  // See EventStream. Must be called only after the last event.
  uint64_t unreadable_events() const { return stream_.unreadable_events(); }

 private:
  static constexpr size_t kBatches = 4, kAheadEvents = 2048, kEvents = 256;

  struct Batch {
    std::vector<StreamEvent> events;
    // The tables of blocks that end in this batch. No later batch points to them.
    std::vector<std::unique_ptr<EventStream::BlockTables>> ended;
  };

  void Fill(Batch* batch, size_t most);
  void DecodeAhead();

  EventStream stream_;
  std::array<Batch, kBatches> batches_;
  size_t reading_ = 0;  // the reader's batch, valid if has_batch_
  bool has_batch_ = false;

  std::mutex mutex_;
  std::condition_variable filled_changed_, free_changed_;
  size_t filled_ = 0;     // batches that are ready, including the reader's; guarded by mutex_
  bool stopped_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace vramtrack

#endif  // ANALYZER_INGEST_EVENT_PIPE_H_
